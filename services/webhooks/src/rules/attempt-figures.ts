import { bucketOf, durationBoundsMs, firstDelayBoundsMs, sumsOf } from '@pitboss/contracts/objects/series'

/** @param durationMs null for an unknown outcome @param httpStatus null without an answer */
export type CountedAttempt = {
  readonly attempt: number
  readonly sentAt: Date
  readonly durationMs: number | null
  readonly httpStatus: number | null
}

const interrupted = 'unknown'

/** The counters that an attempt raises: its outcome, its duration, and if first that of its delay. */
export function countsOfAttempt(counted: CountedAttempt, createdAt: Date): string[] {
  const { attempt, sentAt, durationMs, httpStatus } = counted
  if (durationMs === null) return [interrupted]
  const isSuccess = httpStatus !== null && httpStatus >= 200 && httpStatus < 300
  const delayMs = sentAt.getTime() - createdAt.getTime()
  return [
    isSuccess ? 'delivered' : httpStatus === null ? 'unreachable' : 'refused',
    `d${bucketOf(durationBoundsMs, durationMs)}`,
    ...(attempt === 1 ? [`f${bucketOf(firstDelayBoundsMs, delayMs)}`] : []),
  ]
}

export function endpointPointOf(at: Date, minutes: Parameters<typeof sumsOf>[0]) {
  const { sum, buckets } = sumsOf(minutes)
  return {
    at: at.toISOString(),
    delivered: sum('delivered'),
    refused: sum('refused'),
    unreachable: sum('unreachable'),
    unknown: sum(interrupted),
    durations: buckets('d', durationBoundsMs),
    first_delays: buckets('f', firstDelayBoundsMs),
  }
}
