/**
 * How endpoints stand whose deliveries are due. `healthy`: a worker should be sending them; `full`: the
 * receiver has as many attempts as it takes; `unhealthy`: it failed lately, is paused, or its breaker is
 * open; `untaken`: no worker runs the endpoint yet.
 */
export const standings = ['healthy', 'full', 'unhealthy', 'untaken'] as const
export type Standing = (typeof standings)[number]

/** For how many milliseconds the delivery that is longest due has been due, by how its endpoint stands. */
export type DueLags = Readonly<Record<Standing, number>>

export const noDueLags: DueLags = { healthy: 0, full: 0, unhealthy: 0, untaken: 0 }

/**
 * For how many milliseconds something that was due at `dueAt` has been due; 0 for nothing, or in the future.
 */
export function lagOf(dueAt: Date | null, now: Date): number {
  return dueAt === null ? 0 : Math.max(0, now.getTime() - dueAt.getTime())
}

/** The worst lag of each standing. */
export function worstLags(lags: Iterable<{ readonly standing: Standing; readonly dueMs: number }>): DueLags {
  const worst: Record<Standing, number> = { ...noDueLags }
  for (const { standing, dueMs } of lags) worst[standing] = Math.max(worst[standing], dueMs)
  return worst
}
