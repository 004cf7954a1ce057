import { z } from 'zod'
import {
  amount,
  attempt,
  balance,
  currency,
  elapsedMs,
  eventEnvironment,
  httpStatus,
  playerId,
  roundId,
  sessionId,
  newTransactionId,
  transactionId,
} from '../primitives.ts'

export const movementType = z.enum(['BET', 'WIN', 'REFUND', 'ROLLBACK'])
export const movementStatus = z.enum(['PENDING', 'SUCCESS', 'FAILED', 'REFUNDED', 'ROLLED_BACK'])

/** The public record of a movement. Source: docs/contract.md, section 5. */
export const movementSchema = z.strictObject({
  transaction_id: transactionId,
  reference: z.string(),
  type: movementType,
  status: movementStatus,
  amount,
  currency,
  player_id: playerId,
  session_id: sessionId,
  round_id: roundId,
  game: z.string(),
  free_bet: z.boolean(),
  reference_transaction_id: transactionId.nullable(),
  wallet_transaction_id: z.string().nullable(),
  wallet_code: z.string().nullable(),
  balance_after: balance.nullable(),
  environment: eventEnvironment,
  created_at: z.string(),
  updated_at: z.string(),
})
export type Movement = z.infer<typeof movementSchema>

/** Judgements of one wallet call. */
export const attemptClassification = z.enum(['SUCCESS', 'REFUSED', 'UNKNOWN'])

/** One wallet call. Source: docs/contract.md, section 5. */
export const movementAttemptSchema = z.strictObject({
  attempt,
  operation: z.enum(['debit', 'credit', 'rollback']),
  sent_at: z.string(),
  latency_ms: elapsedMs.nullable(),
  http_status: httpStatus.nullable(),
  wallet_code: z.string().nullable(),
  classification: attemptClassification,
  /** The request without body and signature; null when the process died before it was recorded. */
  request: z.strictObject({ url: z.string(), timestamp: z.string(), request_id: z.string() }).nullable(),
  error: z.string().nullable(),
  /** Fields of the wallet's answer that say something which cannot be read; absent when there is none. */
  unreadable: z.array(z.enum(['balance', 'transactionId'])).optional(),
  response_excerpt: z.string().nullable(),
  next_attempt_at: z.string().nullable(),
})
export type MovementAttempt = z.infer<typeof movementAttemptSchema>

/** Body of `POST /v1/transactions`. Source: docs/contract.md, section 5. */
export const transactionBodySchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('BET'),
    transaction_id: newTransactionId,
    session_id: z.string().min(1).max(64),
    amount,
    currency,
    round_id: z.string().min(1).max(64).optional(),
  }),
  z.strictObject({
    type: z.literal('WIN'),
    transaction_id: newTransactionId,
    round_id: z.string().min(1).max(64),
    amount,
    currency,
    final: z.boolean().default(true),
    outcome: z.record(z.string(), z.unknown()).optional(),
  }),
  z.strictObject({
    type: z.enum(['REFUND', 'ROLLBACK']),
    transaction_id: newTransactionId,
    reference_transaction_id: transactionId,
    amount: amount.optional(),
    currency: currency.optional(),
  }),
])
export type TransactionBody = z.infer<typeof transactionBodySchema>
