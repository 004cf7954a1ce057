import {
  eventDataSchemas,
  eventEnvelopeSchema,
  eventType,
  type EventType,
} from '@pitboss/contracts/objects/event'
import type { Handler } from '../http/inbound.ts'
import { exampleOf } from '../openapi/example-of.ts'
import { toJsonSchema } from '../openapi/to-json-schema.ts'
import { z } from 'zod'

/** Reply of `GET /v1/public/event-types`. Source: docs/contract.md, section 7. */
export const eventTypesReply = z.strictObject({
  data: z.array(
    z.strictObject({
      type: z.string(),
      description: z.string(),
      schema: z.record(z.string(), z.unknown()),
      example: z.record(z.string(), z.unknown()),
    }),
  ),
})

/** Descriptions of the event types. Source: docs/contract.md, section 7. */
const descriptions: Readonly<Record<EventType, string>> = {
  'game.session.created': 'A launch session was opened for a player.',
  'round.started': 'A round opened.',
  'round.completed': 'A round reached a terminal state; carries payout and outcome.',
  'transaction.bet':
    'A stake settled against the wallet. Refunds also arrive under this name: data.type is REFUND.',
  'transaction.win': 'A win settled against the wallet.',
  'transaction.failed': 'A movement was refused and will not be retried.',
  'transaction.rollback': 'A movement was voided.',
}

/** Fields of the examples that the schemas alone do not tell. */
const exampleFields: Readonly<Record<EventType, Record<string, unknown>>> = {
  'game.session.created': {},
  'round.started': {},
  'round.completed': {
    status: 'SETTLED',
    bet: { target: '50.00', direction: 'over' },
    outcome: { roll: '63.17', target: '50.00', direction: 'over', won: true },
    multiplier: '1.9801',
    payout: '19.80',
    end_reason: null,
  },
  'transaction.bet': { type: 'BET', status: 'SUCCESS', reference_transaction_id: null },
  'transaction.win': { type: 'WIN', status: 'SUCCESS', amount: '19.80', reference_transaction_id: null },
  'transaction.failed': {
    type: 'BET',
    status: 'FAILED',
    reference_transaction_id: null,
    code: 'INSUFFICIENT_FUNDS',
    wallet_code: 'INSUFFICIENT_FUNDS',
  },
  'transaction.rollback': { type: 'ROLLBACK', status: 'SUCCESS' },
}

/** `GET /v1/public/event-types`: a schema and an example of each type's whole envelope. Made once. */
export function createEventTypes(): Handler {
  let json: unknown = null
  return async () => {
    json ??= { data: eventType.options.map(describe) }
    return { status: 200, headers: { 'cache-control': 'public, max-age=300' }, json }
  }
}

function describe(type: EventType) {
  const envelope = eventEnvelopeSchema.extend({
    type: eventType.extract([type]),
    data: eventDataSchemas[type],
  })
  const schema = toJsonSchema(envelope, 'output')
  return { type, description: descriptions[type], schema: open(schema), example: example(type) }
}

function example(type: EventType) {
  const data = exampleOf(toJsonSchema(eventDataSchemas[type], 'output'))
  const fields = eventDataSchemas[type].parse({ ...toObject(data), ...exampleFields[type] })
  const envelope = exampleOf(toJsonSchema(eventEnvelopeSchema, 'output'))
  const operatorId = '0193a5c4-9d3e-7a2b-8c1d-4e5f60718293'
  const id = 'evt_01jd3v8x5q7r2m4n6p8s0t1w3y'
  const ofFailures = type === 'transaction.failed' ? [] : ['code', 'wallet_code']
  const shown = Object.entries(fields).filter(([field]) => !ofFailures.includes(field))
  return { ...toObject(envelope), id, type, operator_id: operatorId, data: Object.fromEntries(shown) }
}

function toObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

/**
 * Unrecognised fields are additive for receivers, so the published schemas are open. Source:
 * docs/contract.md, section 7.
 */
function open(schema: unknown): Record<string, unknown> {
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    const entries = Object.entries(node).filter(
      ([key, value]) => key !== 'additionalProperties' || value !== false,
    )
    return Object.fromEntries(entries.map(([key, value]) => [key, walk(value)]))
  }
  return Object.fromEntries(Object.entries(toObject(walk(schema))))
}
