import { z } from 'zod'
import { eventId, eventEnvironment, uuid } from '../primitives.ts'

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
