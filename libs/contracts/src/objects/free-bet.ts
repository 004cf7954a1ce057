import { z } from 'zod'
import { amount, currency, gameSlug, grantId, eventEnvironment, instant, playerId } from '../primitives.ts'

/**
 * A grant. Source: docs/contract.md, section 4, "Free bets"; the record's fields beyond the request are ours.
 */
export const freeBetSchema = z.strictObject({
  grant_id: grantId,
  status: z.enum(['ACTIVE', 'EXHAUSTED', 'EXPIRED', 'CANCELLED']),
  player_id: playerId,
  game: z.string(),
  currency,
  stake: amount,
  count: z.int(),
  remaining: z.int(),
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
  count: z.int().min(1).max(1000),
  expires_at: instant.optional(),
})
