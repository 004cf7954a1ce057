/**
 * `healthy`: a worker should be sending; `full`: the receiver has as many attempts as it takes; `unhealthy`:
 * it failed lately, is paused, or its breaker is open; `untaken`: no worker runs the endpoint yet.
 */
export const standings = ['healthy', 'full', 'unhealthy', 'untaken'] as const
type Standing = (typeof standings)[number]

/** For how many milliseconds the delivery that is longest due has been due, by how its endpoint stands. */
export type DueLags = Readonly<Record<Standing, number>>

export const noDueLags: DueLags = { healthy: 0, full: 0, unhealthy: 0, untaken: 0 }

export function lagOf(dueAt: Date | null, now: Date): number {
  return dueAt === null ? 0 : Math.max(0, now.getTime() - dueAt.getTime())
}

export function worstLags(lags: Iterable<{ readonly standing: Standing; readonly dueMs: number }>): DueLags {
  const worst: Record<Standing, number> = { ...noDueLags }
  for (const { standing, dueMs } of lags) worst[standing] = Math.max(worst[standing], dueMs)
  return worst
}

type Look = {
  /** It takes attempts at its full pace, and its last ones were accepted. */
  readonly healthy: boolean
  /** When the first of its new and repeated deliveries that wait is due. */
  readonly firstDueAt: Date | null
  /** The first of its new deliveries that wait, in due order. */
  readonly first: { readonly dueAt: Date; readonly createdAt: Date } | null
  /** Of the attempts that it may have in flight, the share that is at its receiver now. */
  readonly busyShare: number
  readonly now: Date
}

/** `lateMs`: how late its new deliveries are without need; `dueMs`: how long its longest is due. */
export type EndpointLateness = { lateMs: number; standing: Standing; dueMs: number }

const weight = 0.3
/** From this share on the receiver holds its deliveries up: no faster worker would help. Source: ours. */
const busyMax = 0.9

/**
 * Judges at even intervals how late an endpoint's deliveries are. What the endpoint itself delays does not
 * count: after that, and at first, only what is added to the least lateness since, until it has caught up.
 */
export function createLateness(): (look: Look) => EndpointLateness {
  const extra = createExtraLateness()
  let busy = 0
  return function latenessOf({ healthy, first, firstDueAt, busyShare, now }) {
    busy += weight * (busyShare - busy)
    // The receiver has nearly all attempts that it may have: only it is slow.
    const isFull = busy > busyMax
    const lateMs = lagOf(first?.dueAt ?? null, now)
    const wasMoved = first !== null && first.dueAt.getTime() !== first.createdAt.getTime()
    if (lateMs > 0 && (!healthy || wasMoved || isFull)) extra.forgive()
    const standing = healthy ? (isFull ? 'full' : 'healthy') : 'unhealthy'
    return { lateMs: extra.of(lateMs), standing, dueMs: lagOf(firstDueAt, now) }
  }
}

/** The lateness that is added to the least one since it was last forgiven; it begins forgiven. */
export function createExtraLateness(): { forgive(): void; of(lateMs: number): number } {
  let leastMs = Number.POSITIVE_INFINITY
  return {
    forgive: () => void (leastMs = Number.POSITIVE_INFINITY),
    of(lateMs) {
      leastMs = Math.min(leastMs, lateMs)
      return lateMs - leastMs
    },
  }
}
