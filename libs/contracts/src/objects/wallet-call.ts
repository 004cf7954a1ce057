import { z } from 'zod'
import {
  amount,
  brandId,
  currency,
  gameSlug,
  instant,
  playerId,
  sessionId,
  transactionId,
  uuid,
} from '../primitives.ts'
import { movementType } from './movement.ts'

/** Calls to the operator's wallet, in the wallet's spelling. Source: docs/contract.md, section 6. */

/** Body of `POST {url}/balance`. */
export const walletBalanceCallSchema = z.strictObject({
  playerId,
  currency,
  sessionId,
  /** `game_id` of the catalogue. */
  gameId: uuid,
})
export type WalletBalanceCall = z.infer<typeof walletBalanceCallSchema>

/** Body of `POST {url}/debit`, `/credit` and `/rollback`. */
export const walletMovementCallSchema = z.strictObject({
  /** The key of the movement: equal ids are one movement, whenever they come. */
  transactionId,
  /** The movement that a refund or a rollback gives back. */
  referenceTransactionId: transactionId.optional(),
  reference: z.string().max(64),
  type: movementType,
  /** `wallet_round_id` and `wallet_game_id` of records and events. */
  roundId: uuid,
  gameId: uuid,
  game: gameSlug,
  sessionId,
  playerId,
  brandId: brandId.optional(),
  currency,
  amount,
  freeBet: z.boolean(),
  roundClosed: z.boolean(),
  occurredAt: instant,
})
export type WalletMovementCall = z.infer<typeof walletMovementCallSchema>

/** The result of a movement is known now. Source: docs/contract.md, section 11. */
export const walletCallbackSchema = z.strictObject({
  transactionId,
  status: z.enum(['SUCCESS', 'FAILED', 'UNKNOWN']),
})

/** Answers of a wallet; fields that are not named here are left alone. */
export const walletAnswerSchema = z.looseObject({
  /** `OK`, `DUPLICATE` for what was done before, or why not. */
  status: z.string().min(1).max(128),
  /** After the movement, a decimal string. */
  balance: z.string().optional(),
  currency: currency.optional(),
  /** The wallet's own id of the movement. */
  transactionId: z.union([z.string().max(128), z.int().min(0)]).optional(),
  message: z.string().optional(),
})
