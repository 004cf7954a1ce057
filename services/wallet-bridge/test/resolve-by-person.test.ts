import { newId } from '@pitboss/runtime/new-id'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import t from 'tap'
import { applyMessage } from '../src/actions/apply-message.ts'
import { resolveByPerson } from '../src/actions/operate-movements.ts'
import { documentOf, initialState, reversalDocumentOf } from '../src/records/new-movement.ts'
import { advanceMovement } from '../src/rules/advance-movement.ts'
import type { MovementMessage, MovementState } from '../src/rules/movement.ts'
import type { MovementDocument } from '../src/storage/movement-document.ts'
import type { MovementStore } from '../src/storage/movement-store.ts'
import { newScope, reversalOf, specOf } from './fixtures/bridge.ts'

const at = new Date('2026-11-20T09:30:00.000Z')
const clock = { now: () => at }
const scaleMs = (ms: number) => ms
const isOf = (document: MovementDocument, id: string) => document.transactionId === id

/**
 * A taken bet with a refund that the wallet has not acknowledged, in a store that fences as the real one
 * does.
 */
function owedRefund() {
  const scope = newScope()
  const bet = specOf()
  const refund = reversalOf(bet, 'REFUND')
  const asked: MovementMessage = {
    kind: 'reversal-asked',
    at,
    type: 'REFUND',
    reversal: { transactionId: refund.transactionId, reference: newId('txn') },
    requestHash: 'hash',
    roundClosed: true,
  }
  const taken: MovementState = { ...initialState('BET', at), status: 'SUCCESS', dueAt: null }
  const { state } = advanceMovement(taken, asked, scaleMs)
  const original = documentOf({ scope, spec: bet, reference: newId('txn'), state })
  if (state.reversal === null) throw new Error('the bet cannot be refunded')
  const documents = new Map<string, MovementDocument>()
  for (const one of [original, reversalDocumentOf(original, state.reversal)]) documents.set(one._id, one)
  const of = (id: string) => [...documents.values()].find((document) => isOf(document, id)) ?? original
  const movements: MovementStore = {
    insert: async () => 'taken',
    confirmPrimary: async () => undefined,
    find: async (_scope, id) => of(id),
    findById: async (id) => documents.get(id) ?? null,
    ofRound: async () => [...documents.values()],
    republish: async () => undefined,
    listed: async () => undefined,
    async write(document, { state }) {
      if (documents.get(document._id)?.n !== document.n) return null
      const written = { ...document, ...state, n: document.n + 1 }
      documents.set(document._id, written)
      return written
    },
  }
  const settlement = {
    ...{ movements, clock, newId, notify: () => undefined },
    rules: (state: MovementState, message: MovementMessage) => advanceMovement(state, message, scaleMs),
    audit: { entry: () => sampleAuditEntry() },
  }
  return {
    settlement,
    bet: () => of(bet.transactionId),
    refund: () => of(refund.transactionId),
    /** Gives a person's order; `before` runs before each write, with the status that it gives. */
    resolve(as: 'success' | 'failed', before: (document: MovementDocument) => unknown = () => null) {
      const write: MovementStore['write'] = async (document, step) => {
        await before({ ...document, ...step.state })
        return movements.write(document, step)
      }
      const order = { by: 'ann', reason: 'asked for', dryRun: false }
      const meddled = { ...settlement, movements: { ...movements, write } }
      return resolveByPerson(meddled, of(refund.transactionId), { as, order }, 'req_1')
    },
  }
}

t.test('a refund whose call is in flight keeps its bet', async (t) => {
  const { settlement, bet, refund, resolve } = owedRefund()
  const sentMeanwhile = async ({ type }: MovementDocument) => {
    const begun = { kind: 'call-begun', at, token: 'resolver', leaseMs: 4000 } as const
    if (type === 'REFUND') await applyMessage(settlement, refund(), begun)
  }
  await t.rejects(resolve('failed', sentMeanwhile), { code: 'CONFLICT' })
  t.match(refund(), { status: 'PENDING', call: { token: 'resolver' } })
  t.equal(bet().reversal?.transactionId, refund().transactionId, 'the bet is still being given back')
})

t.test('a repeated order frees the bet once when the process died between refund and bet', async (t) => {
  const { bet, refund, resolve } = owedRefund()
  const dying = ({ type }: MovementDocument) => {
    if (type === 'BET') throw new Error('the process died')
  }
  await t.rejects(resolve('failed', dying), { message: 'the process died' })
  t.equal(refund().status, 'FAILED', 'it is certainly not sent any more')
  await t.rejects(resolve('success'), { code: 'CONFLICT' })
  t.equal((await resolve('failed')).status, 'FAILED')
  t.match(bet(), { status: 'SUCCESS', reversal: null })
  await t.rejects(resolve('failed'), { code: 'CONFLICT' })
})

t.test('a refund that a person marks as done ends its bet first', async (t) => {
  const { bet, refund, resolve } = owedRefund()
  const dying = ({ type }: MovementDocument) => {
    if (type === 'REFUND') throw new Error('the process died')
  }
  await t.rejects(resolve('success', dying), { message: 'the process died' })
  t.match([bet().status, refund().status], ['REFUNDED', 'PENDING'])
  t.equal((await resolve('success')).status, 'SUCCESS')
})
