import { type EventType, webhookTestSchema } from '@pitboss/contracts/objects/event'
import { z } from 'zod'
import { exampleOf } from './example-of.ts'
import { toJsonSchema } from './to-json-schema.ts'
import { exampleRound } from './usual-fields.ts'
import { envelopeOf } from './variants.ts'

/** Descriptions of the event types. Source: docs/contract.md, section 7. */
export const eventDescriptions: Readonly<Record<EventType, string>> = {
  'game.session.created': 'A launch session was opened for a player.',
  'round.started': 'A round opened.',
  'round.completed': 'A round reached a terminal state; carries payout and outcome.',
  'transaction.bet':
    'A stake settled against the wallet. Refunds also arrive under this name: data.type is REFUND.',
  'transaction.win': 'A win settled against the wallet.',
  'transaction.failed': 'A movement was refused and will not be retried.',
  'transaction.rollback': 'A movement was voided.',
}

const ulid = '01jd3v8x5q7r2m4n6p8s0t1w3y'
const { server_seed: _seed, ...commitment } = exampleRound.fairness
const bet = { transaction_id: `bet_${ulid}`, type: 'BET', status: 'SUCCESS', reference_transaction_id: null }

/** Fields of `data` that the schemas alone do not tell; undefined is left out. */
const dataFields: Readonly<Record<EventType, Readonly<Record<string, unknown>>>> = {
  'game.session.created': { brand: null, expires_at: '2026-11-20T10:30:00.000Z' },
  'round.started': { fairness: commitment },
  'round.completed': exampleRound,
  'transaction.bet': { ...bet, code: undefined, wallet_code: undefined },
  'transaction.win': {
    ...{ ...bet, transaction_id: `win_${ulid}`, type: 'WIN', amount: exampleRound.payout },
    ...{ code: undefined, wallet_code: undefined },
  },
  'transaction.failed': {
    ...{ ...bet, status: 'FAILED', code: 'INSUFFICIENT_FUNDS', wallet_code: 'INSUFFICIENT_FUNDS' },
  },
  'transaction.rollback': {
    ...{ ...bet, transaction_id: `rbk_${ulid}`, type: 'ROLLBACK', reference_transaction_id: `bet_${ulid}` },
    ...{ code: undefined, wallet_code: undefined },
  },
}

const envelopeSchema = z.looseObject({ data: z.record(z.string(), z.unknown()) })
const accountOfEvents = '0193a5c4-9d3e-7a2b-8c1d-4e5f60718293'

/** The whole envelope of an event of one type. */
export function exampleOfEvent(type: EventType): Record<string, unknown> {
  const envelope = envelopeSchema.parse(exampleOf(toJsonSchema(envelopeOf(type), 'output')))
  const data = Object.entries({ ...envelope.data, ...dataFields[type] })
  return {
    ...{ ...envelope, id: `evt_${ulid}`, operator_id: accountOfEvents },
    data: Object.fromEntries(data.filter(([, value]) => value !== undefined)),
  }
}

/** What an endpoint gets when somebody tests it. */
export function exampleOfTest(): Record<string, unknown> {
  const envelope = envelopeSchema.parse(exampleOf(toJsonSchema(webhookTestSchema, 'output')))
  const data = { ...envelope.data, message: 'This is a test. Nothing has happened.' }
  return { ...envelope, id: `evt_${ulid}`, operator_id: accountOfEvents, data }
}
