import { z } from 'zod'
import { count, givenInstant, webhookId, accountMode } from '../primitives.ts'

/** Figures of an endpoint and of a wallet over time. Source: docs/contract.md, section 3, "Series". */

/** The steps of a series, in seconds. */
export const seriesSteps = [60, 300, 900, 3600, 86_400] as const
export type SeriesStep = (typeof seriesSteps)[number]

/** Most points of an answer; the step must be long enough for the window. */
export const seriesPointsMax = 1500
/** Longest window of an answer, in days. Minutes are kept a little longer. */
export const seriesDaysMax = 31

/** Upper ends of the buckets of durations, in milliseconds; what takes longer is in one more bucket. */
export const durationBoundsMs = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 20_000, 30_000] as const
/** The same for the time from the creation of a delivery to its first attempt. */
export const firstDelayBoundsMs = [
  100, 250, 500, 1000, 2500, 5000, 15_000, 60_000, 300_000, 3_600_000,
] as const

const seriesStep = z
  .union([
    z.literal(seriesSteps),
    z
      .enum(['60', '300', '900', '3600', '86400'], 'must be 60, 300, 900, 3600 or 86400')
      .transform((text) => seriesSteps.find((step) => String(step) === text) ?? 60),
  ])
  .optional()

/** `to` is now unless given, `from` a day before it; the step is the shortest that 300 points allow. */
export const seriesQuery = {
  from: givenInstant.optional(),
  to: givenInstant.optional(),
  step_s: seriesStep,
} as const

const counts = z.array(count)

const window = {
  from: z.string(),
  to: z.string(),
  step_s: z.literal(seriesSteps),
  complete_until: z.string(),
  duration_bounds_ms: z.array(count),
}

const endpointPoint = z.strictObject({
  at: z.string(),
  delivered: count,
  refused: count,
  unreachable: count,
  unknown: count,
  durations: counts,
  first_delays: counts,
})
export type EndpointPoint = z.infer<typeof endpointPoint>

export const endpointSeriesSchema = z.strictObject({
  webhook_id: webhookId,
  ...window,
  first_delay_bounds_ms: z.array(count),
  points: z.array(endpointPoint),
})

const walletOperationFigures = z.strictObject({
  success: count,
  refused: count,
  unknown: count,
  durations: counts,
})
const walletPoint = z.strictObject({
  at: z.string(),
  debit: walletOperationFigures,
  credit: walletOperationFigures,
  rollback: walletOperationFigures,
})
export type WalletPoint = z.infer<typeof walletPoint>
export type WalletOperationFigures = z.infer<typeof walletOperationFigures>

export const walletSeriesSchema = z.strictObject({
  environment: accountMode,
  ...window,
  points: z.array(walletPoint),
})

/** The index of the bucket in which `ms` counts: `bounds.length` for what is above the last bound. */
export function bucketOf(bounds: readonly number[], ms: number): number {
  const index = bounds.findIndex((bound) => ms <= bound)
  return index === -1 ? bounds.length : index
}

/** Adds up counters of minutes: `sum` those of a name, `buckets` those of a prefix by the bucket of bounds. */
export function sumsOf(minutes: readonly Readonly<Record<string, number>>[]) {
  const sum = (name: string) => minutes.reduce((total, counters) => total + (counters[name] ?? 0), 0)
  const buckets = (prefix: string, bounds: readonly number[]) =>
    Array.from({ length: bounds.length + 1 }, (_, index) => sum(`${prefix}${index}`))
  return { sum, buckets }
}
