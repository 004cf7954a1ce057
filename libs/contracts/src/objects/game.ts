import { z } from 'zod'
import {
  amount,
  currency,
  uuid,
  gameSlug,
  grantId,
  eventEnvironment,
  givenInstant,
  playerId,
} from '../primitives.ts'

export const gameStatus = z.enum(['AVAILABLE', 'DOWN'])

/** A game as an operator sees it. Source: docs/contract.md, section 4. */
export const gameSchema = z.strictObject({
  slug: z.string(),
  game_id: uuid,
  name: z.string(),
  enabled: z.boolean(),
  status: gameStatus,
  rtp: z.string(),
  limits: z.array(
    z.strictObject({
      currency,
      min_stake: amount,
      max_stake: amount,
      max_payout: amount,
      rtp_at_min_stake: z.string().nullable(),
    }),
  ),
  bet_schema: z.record(z.string(), z.unknown()),
})
export type Game = z.infer<typeof gameSchema>

/** Body of `PATCH {slug}`. Source: docs/contract.md, section 3. */
export const gamePatchSchema = z.strictObject({
  enabled: z.boolean().optional(),
  limits: z
    .array(z.strictObject({ currency, min_stake: amount, max_stake: amount, max_payout: amount.optional() }))
    .max(200)
    .optional(),
})

/** Rounds that one grant is good for. */
const grantCountMax = 1000
export const grantCount = z.int().min(1).max(grantCountMax)

export const freeBetStatus = z.enum(['ACTIVE', 'EXHAUSTED', 'EXPIRED', 'CANCELLED'])

/** The operator's own name of a grant, which makes it once for ever. docs/contract.md, section 4. */
const grantReference = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable characters of ASCII without spaces')

/** A grant. Source: docs/contract.md, section 4, "Free bets"; fields beyond the request are ours. */
export const freeBetSchema = z.strictObject({
  grant_id: grantId,
  status: freeBetStatus,
  player_id: playerId,
  game: z.string(),
  currency,
  stake: amount,
  count: grantCount,
  remaining: z.int().min(0).max(grantCountMax),
  reference: grantReference.nullable(),
  environment: eventEnvironment,
  created_at: z.string(),
  expires_at: z.string().nullable(),
  cancelled_at: z.string().nullable(),
})
export type FreeBet = z.infer<typeof freeBetSchema>

/** Body of `POST /v1/free-bets`. */
export const freeBetCreateSchema = z.strictObject({
  player_id: playerId,
  game: gameSlug,
  currency,
  stake: amount,
  count: grantCount,
  expires_at: givenInstant.optional(),
  reference: grantReference.optional(),
})
