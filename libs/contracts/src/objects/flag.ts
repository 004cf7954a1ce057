import { z } from 'zod'
import {
  amount,
  count,
  currency,
  eventEnvironment,
  flagId,
  gameSlug,
  instant,
  noteText,
  playerId,
  roundId,
  transactionId,
} from '../primitives.ts'

/** What a person should look at, with the case about it. Source: docs/contract.md, section 3. */

export const flagRule = z.enum([
  'BIG_WIN',
  'UNKNOWN_OUTCOMES_OF_PLAYER',
  'UNKNOWN_OUTCOMES_OF_WALLET',
  'BACK_AFTER_WIN',
])
export type FlagRule = z.infer<typeof flagRule>

export const flagStatus = z.enum(['OPEN', 'IN_REVIEW', 'CLOSED'])
export type FlagStatus = z.infer<typeof flagStatus>

/** Bounds of a flag: movements that it names, notes of its case, characters of a note. */
export const flagMax = { transactions: 100, notes: 50, noteCharacters: 1000 } as const

/** As a list shows it. Fields about one movement are null where the flag is about several. */
export const flagSchema = z.strictObject({
  flag_id: flagId,
  rule: flagRule,
  status: flagStatus,
  environment: eventEnvironment,
  /** Null for a flag about a wallet. */
  player_id: playerId.nullable(),
  game: gameSlug.nullable(),
  round_id: roundId.nullable(),
  amount: amount.nullable(),
  currency: currency.nullable(),
  /** How many movements it is about. */
  movements: count,
  notes: count,
  /** The time of its first movement, by which lists are ordered. */
  happened_at: instant,
  raised_at: instant,
  updated_at: instant,
})
export type Flag = z.infer<typeof flagSchema>

const flagNoteSchema = z.strictObject({ at: instant, by: z.string(), text: z.string() })

/** One flag with its movements and its case. */
export const flagCaseSchema = flagSchema.omit({ movements: true, notes: true }).extend({
  transaction_ids: z.array(transactionId),
  notes: z.array(flagNoteSchema),
})
export type FlagCase = z.infer<typeof flagCaseSchema>

/** A note is added to those that are there. */
export const flagPatchSchema = z
  .strictObject({
    status: flagStatus.optional(),
    note: noteText(flagMax.noteCharacters).trim().min(1).optional(),
  })
  .refine(({ status, note }) => status !== undefined || note !== undefined, 'must have "status" or "note"')

/** How many movements of unknown outcome in a UTC day raise a flag. */
const repeats = z.int().min(2).max(flagMax.transactions)

/** When flags are raised. A rule that is null, false or without a threshold raises none. */
export const flagRulesSchema = z.strictObject({
  big_win: z
    .array(z.strictObject({ currency, amount }))
    .max(32)
    .refine(
      (rules) => new Set(rules.map((rule) => rule.currency)).size === rules.length,
      'must name each currency once',
    ),
  unknown_outcomes: z.strictObject({ player: repeats.nullable(), wallet: repeats.nullable() }),
  back_after_win: z.boolean(),
})
export type FlagRules = z.infer<typeof flagRulesSchema>

/** Until an account chooses its own. */
export const defaultFlagRules: FlagRules = {
  big_win: [],
  unknown_outcomes: { player: 3, wallet: 20 },
  back_after_win: true,
}
