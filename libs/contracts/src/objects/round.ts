import { z } from 'zod'
import { amount, currency, nonce, playerId, roundId, sessionId, uuid } from '../primitives.ts'

export const roundStatus = z.enum(['PENDING', 'OPEN', 'SETTLING', 'SETTLED', 'VOIDED', 'FAILED'])
export const roundDriver = z.enum(['game', 'operator'])

/** A tile of the board, row by row. Source: docs/contract.md, section 4. */
export const tile = z.int().min(0).max(24)

/** `server_seed` is null until the round is terminal. Source: docs/contract.md, section 4. */
export const fairnessSchema = z.strictObject({
  algorithm: z.literal('fair-v1'),
  server_seed_hash: z.string(),
  client_seed: z.string().nullable(),
  nonce,
  server_seed: z.string().nullable(),
})

/** A bet and an outcome as the round's game has them; an operator's own round has any outcome. */
export const gameBet = z.record(z.string(), z.unknown())
export const gameOutcome = z.record(z.string(), z.unknown())

/** The public record of a round. Source: docs/contract.md, sections 4 and 11. */
export const roundSchema = z.strictObject({
  round_id: roundId,
  session_id: sessionId,
  /** The page request's `transaction_id`; null for none. Rounds of the earlier release do not say it. */
  client_transaction_id: z.string().nullable().default(null),
  player_id: playerId,
  game: z.string(),
  status: roundStatus,
  stake: amount,
  payout: amount.nullable(),
  currency,
  free_bet: z.boolean(),
  bet: gameBet.nullable(),
  multiplier: z.string().nullable(),
  outcome: gameOutcome.nullable(),
  progress: z
    .strictObject({ tiles_opened: z.array(tile), next_multiplier: z.string().nullable() })
    .nullable(),
  fairness: fairnessSchema,
  wallet_round_id: uuid,
  wallet_game_id: uuid,
  driver: roundDriver,
  environment: z.enum(['SANDBOX', 'LIVE']),
  created_at: z.string(),
  completed_at: z.string().nullable(),
  end_reason: z.string().nullable(),
})
export type Round = z.infer<typeof roundSchema>
