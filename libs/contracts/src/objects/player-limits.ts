import { z } from 'zod'
import { amount, balance, currency, eventEnvironment, instant, noteText, playerId } from '../primitives.ts'

/** Limits of players. Source: docs/contract.md, section 4, "Limits of a player". */

/** Bound of the limits of one player. Source: ours. */
const limitsMax = 60
/** Minutes of the longest month. */
const minutesMax = 44_640

export const limitPeriod = z.enum(['day', 'week', 'month'])
const moneyKind = z.enum(['loss', 'stake'])
const minutes = z.int().min(1).max(minutesMax)
const reasonCharactersMax = 500
const reason = z.string().min(1).max(reasonCharactersMax)

/** A limit as an operator sets it. */
const wantedLimit = z.discriminatedUnion('kind', [
  z.strictObject({ kind: moneyKind, period: limitPeriod, currency, amount }),
  z.strictObject({ kind: z.literal('time'), period: limitPeriod, minutes }),
])
export type WantedLimit = z.infer<typeof wantedLimit>

/** All limits of the player: one that is not named is to go. */
export const limitsPutSchema = z.strictObject({
  limits: z.array(wantedLimit).max(limitsMax),
  reason: noteText(reasonCharactersMax).min(1).optional(),
})

/** How a limit stands in the running period. */
const standing = { period: limitPeriod, from: instant, resets_at: instant } as const

export const playerLimitSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...standing,
    kind: moneyKind,
    currency,
    amount,
    /** Undecided stakes count as lost; below zero for who is ahead. */
    used: balance,
    left: amount,
    /** The amount that takes the place of `amount`, null for none at all, and when. */
    next: z.strictObject({ amount: amount.nullable(), at: instant }).nullable(),
  }),
  z.strictObject({
    ...standing,
    kind: z.literal('time'),
    minutes,
    used_minutes: z.int().min(0),
    left_minutes: z.int().min(0),
    next: z.strictObject({ minutes: minutes.nullable(), at: instant }).nullable(),
  }),
])
export type PlayerLimit = z.infer<typeof playerLimitSchema>

export const playerLimitsSchema = z.strictObject({
  player_id: playerId,
  environment: eventEnvironment,
  limits: z.array(playerLimitSchema),
  /** What was asked for and when, newest first; the last 50. */
  changes: z.array(z.strictObject({ at: instant, reason: reason.nullable(), limits: z.array(wantedLimit) })),
})
export type PlayerLimits = z.infer<typeof playerLimitsSchema>
