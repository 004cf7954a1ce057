import { z } from 'zod'
import {
  eventId,
  eventEnvironment,
  uuid,
  amount,
  currency,
  playerId,
  roundId,
  sessionId,
  webhookId,
} from '../primitives.ts'
import { movementType } from './movement.ts'
import { fairnessSchema, gameBet, gameOutcome } from './round.ts'

/** The seven event names, the complete list. Source: docs/contract.md, section 7. */
export const eventType = z.enum([
  'game.session.created',
  'round.started',
  'round.completed',
  'transaction.bet',
  'transaction.win',
  'transaction.failed',
  'transaction.rollback',
])
export type EventType = z.infer<typeof eventType>

/** Identical for webhook deliveries and `GET /v1/events` items. Source: docs/contract.md, section 7. */
export const eventEnvelopeSchema = z.strictObject({
  id: eventId,
  type: eventType,
  created_at: z.string(),
  environment: eventEnvironment,
  operator_id: uuid,
  data: z.record(z.string(), z.unknown()),
})
export type EventEnvelope = z.infer<typeof eventEnvelopeSchema>

/** What an endpoint gets when somebody tests it; no event. Source: docs/contract.md, section 7. */
export const webhookTestSchema = eventEnvelopeSchema.extend({
  type: z.literal('webhook.test'),
  data: z.strictObject({ webhook_id: webhookId, message: z.string() }),
})
export type WebhookTest = z.infer<typeof webhookTestSchema>

/** `data` of each event type. Source: docs/contract.md, section 7. */

const sessionCreated = z.strictObject({
  session_id: sessionId,
  game: z.string(),
  player_id: playerId,
  currency,
  brand: z.string().nullable(),
  expires_at: z.string(),
})

const roundStarted = z.strictObject({
  round_id: roundId,
  game: z.string(),
  wallet_round_id: uuid,
  wallet_game_id: uuid,
  player_id: playerId,
  session_id: sessionId,
  stake: amount,
  currency,
  free_bet: z.boolean(),
  fairness: fairnessSchema.omit({ server_seed: true }),
})

const roundCompleted = roundStarted.extend({
  payout: amount,
  bet: gameBet.nullable(),
  outcome: gameOutcome.nullable(),
  fairness: fairnessSchema,
  status: z.enum(['SETTLED', 'VOIDED']),
  multiplier: z.string().nullable(),
  end_reason: z.string().nullable(),
  driver: z.enum(['game', 'operator']),
})

const movementData = z.strictObject({
  transaction_id: z.string(),
  reference: z.string(),
  type: movementType,
  status: z.enum(['SUCCESS', 'FAILED']),
  amount,
  currency,
  player_id: playerId,
  session_id: sessionId,
  round_id: roundId,
  reference_transaction_id: z.string().nullable(),
  wallet_round_id: uuid,
  wallet_game_id: uuid,
  free_bet: z.boolean(),
  code: z.string().optional(),
  wallet_code: z.string().nullable().optional(),
})

export const eventDataSchemas = {
  'game.session.created': sessionCreated,
  'round.started': roundStarted,
  'round.completed': roundCompleted,
  'transaction.bet': movementData,
  'transaction.win': movementData,
  'transaction.failed': movementData,
  'transaction.rollback': movementData,
} as const satisfies Record<EventType, z.ZodType>

export type SessionCreatedData = z.infer<typeof sessionCreated>
export type RoundStartedData = z.infer<typeof roundStarted>
export type RoundCompletedData = z.infer<typeof roundCompleted>
export type MovementEventData = z.infer<typeof movementData>
