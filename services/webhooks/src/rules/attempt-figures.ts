import { bucketOf, durationBoundsMs, firstDelayBoundsMs } from '@pitboss/contracts/objects/series'

/** @param durationMs null for an unknown outcome @param httpStatus null without an answer */
export type CountedAttempt = {
  readonly attempt: number
  readonly sentAt: Date
  readonly durationMs: number | null
  readonly httpStatus: number | null
}

const interrupted = 'unknown'

/** The counters that an attempt raises: its outcome, its duration, and if first that of its delay. */
export function countsOfAttempt(
  { attempt, sentAt, durationMs, httpStatus }: CountedAttempt,
  createdAt: Date,
): string[] {
  if (durationMs === null) return [interrupted]
  const isSuccess = httpStatus !== null && httpStatus >= 200 && httpStatus < 300
  const delayMs = sentAt.getTime() - createdAt.getTime()
  return [
    isSuccess ? 'delivered' : httpStatus === null ? 'unreachable' : 'refused',
    `d${bucketOf(durationBoundsMs, durationMs)}`,
    ...(attempt === 1 ? [`f${bucketOf(firstDelayBoundsMs, delayMs)}`] : []),
  ]
}

export function endpointPointOf(at: Date, minutes: readonly Readonly<Record<string, number>>[]) {
  const sum = (name: string) => minutes.reduce((total, counters) => total + (counters[name] ?? 0), 0)
  const buckets = (bounds: readonly number[], prefix: string) =>
    Array.from({ length: bounds.length + 1 }, (_, index) => sum(`${prefix}${index}`))
  return {
    at: at.toISOString(),
    delivered: sum('delivered'),
    refused: sum('refused'),
    unreachable: sum('unreachable'),
    unknown: sum(interrupted),
    durations: buckets(durationBoundsMs, 'd'),
    first_delays: buckets(firstDelayBoundsMs, 'f'),
  }
}
