import { z } from 'zod'
import { amount, currency, eventEnvironment, gameSlug, instant } from '../primitives.ts'

/** The watch of returns to players. Source: docs/contract.md, section 11, "Returns". */

/** A share as a decimal string with six places: "0.990000". */
const share = z.string().regex(/^[0-9]+\.[0-9]{6}$/, 'must be a decimal string with six places')

const point = z.strictObject({
  at: instant,
  trials: z.int().min(0),
  /** Null for draws, as the two others. */
  seen: share.nullable(),
  low: share.nullable(),
  high: share.nullable(),
  /** The evidence as a part of what is an alarm, from below 0 to 1 and more. */
  evidence: z.string(),
})

/** How one bet of a game, or its draws, have come out so far. */
export const returnStreamSchema = z.strictObject({
  stream_id: z.string().max(64),
  environment: eventEnvironment,
  /** Null for a stream of the whole installation, which operations alone see. */
  currency: currency.nullable(),
  game: gameSlug,
  game_version: z.string(),
  /** "chance 99/200", "tile 1 beside 3 mines" or "draws". */
  shape: z.string().max(128),
  trials: z.int().min(0),
  /** The return of the game as designed. Null for draws, as the six that follow. */
  expected: share.nullable(),
  seen: share.nullable(),
  /** The returns that are not ruled out. */
  low: share.nullable(),
  high: share.nullable(),
  /** Trials within which an error of one point shows. */
  point_noticed_within: z.int().min(0).nullable(),
  /** Sums of this account's money; null also for tiles. */
  stakes: amount.nullable(),
  payouts: amount.nullable(),
  evidence: z.string(),
  /** Null while nothing is wrong. */
  alarm: z.strictObject({ at: instant, trials: z.int().min(0) }).nullable(),
  since: instant,
  updated_at: instant,
  /** How it stood earlier, at growing distances. */
  points: z.array(point),
})
export type ReturnStream = z.infer<typeof returnStreamSchema>

/** A stream with its account, for operations; null for one of the whole installation. */
export const opsReturnStreamSchema = returnStreamSchema.extend({ operator_id: z.string().nullable() })
export type OpsReturnStream = z.infer<typeof opsReturnStreamSchema>

/** An alarm with its evidence: the stream as it was when it became one. */
export const returnAlarmSchema = z.strictObject({
  alarm_id: z.string().max(64),
  status: z.enum(['OPEN', 'LIFTED']),
  raised_at: instant,
  /** Whether the rule took the game down, or only told. */
  rule: z.enum(['take-down', 'tell']),
  /** The logarithm of the score, and that which is an alarm. */
  score: z.string(),
  threshold: z.string(),
  /** The number of the stream among those that share the error budget. */
  position: z.int().min(1),
  counts: z.array(z.int().min(0)),
  stream: opsReturnStreamSchema,
  lifted_at: instant.nullable(),
  lifted_by: z.string().nullable(),
  lift_reason: z.string().nullable(),
})
export type ReturnAlarm = z.infer<typeof returnAlarmSchema>
