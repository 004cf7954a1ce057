import { scopeKey } from '@pitboss/contracts/caller'
import { opsMovementEvents } from '@pitboss/contracts/calls/wallet-ops'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { newId } from '@pitboss/runtime/new-id'
import { parseKeyring } from '@pitboss/storage/keyring'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { exactReads } from '@pitboss/testing/exact-reads'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { serveAuditLog } from '@pitboss/testing/serve-audit-log'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { documentOf, initialState } from '../src/records/new-movement.ts'
import { toMovementEvent } from '../src/records/render-movement.ts'
import { movementIdOf } from '../src/rules/movement-keys.ts'
import type { MovementState } from '../src/rules/movement.ts'
import { moneyStream } from '../src/storage/round-money.ts'
import { movementIndexes } from '../src/storage/listed-movements.ts'
import type { MovementDocument } from '../src/storage/movement-document.ts'
import { upgradeStorage } from '../src/storage/upgrade-storage.ts'
import { createWallets } from '../src/storage/wallet-document.ts'
import {
  clientOf,
  newScope,
  reversalOf,
  silentLogger,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'
import { isAllDone, listedWrongly } from './fixtures/stored-money.ts'
import { openTestMoney } from './fixtures/test-money.ts'

const suite = await startSuite(t)
const { db } = suite.storage
const environment = suite.environment()
const log = await serveAuditLog(t, suite.bus, silentLogger)
const wallet = await startSandboxWallet(t, 'wsec_of_an_earlier_build')
const scope = newScope()
const client = clientOf(suite.bus, scope)
const hourAgo = new Date(Date.now() - 3_600_000)
const stored = db.collection<{ _id: string; outbox?: unknown }>('movements')
const secretBox = createSecretBox(parseKeyring(environment.PITBOSS_MASTER_KEYS ?? ''))
await createWallets(db, secretBox, exactReads).create(
  scope,
  {
    url: wallet.url,
    timeoutMs: 1000,
    settleLosses: 'none',
    secret: 'wsec_of_an_earlier_build',
    at: new Date(),
  },
  () => sampleAuditEntry(),
)

/** A movement as the builds before the journal stored it. */
function earlier(spec: MovementSpec, change: Partial<MovementState> = {}, fields: object = {}) {
  const state = { ...initialState(spec.type, hourAgo), ...change }
  return asStored(documentOf({ scope, spec, reference: newId('txn'), state, walletUrl: wallet.url }), fields)
}

function asStored({ n: _n, w: _w, ...document }: MovementDocument, fields: object = {}) {
  return { version: 3, ...document, callingRound: null, outbox: [], outboxAt: null, ...fields }
}

const taken = { status: 'SUCCESS', tries: 1, dueAt: null } as const
const finished = specOf({ driver: 'operator', playerId: 'finished' })
const told = specOf({ playerId: 'told' })
const audited = specOf({ playerId: 'audited' })
const owed = specOf({ type: 'WIN', playerId: 'owed', freeBet: true })
const looked = specOf({ type: 'WIN', playerId: 'looked', freeBet: true })
const returned = specOf({ driver: 'operator', playerId: 'returned' })

/** A stake that a caller gave back, of which the process died before it had stored the refund. */
function unplaced() {
  const refund = reversalOf(returned, 'REFUND')
  const { transactionId, requestHash } = refund
  const reversal = {
    ...({ type: 'REFUND', origin: 'caller', askedAt: hourAgo, placed: false } as const),
    ...{ transactionId, requestHash, reference: newId('txn'), roundClosed: true },
  }
  return { refund, document: earlier(returned, { ...taken, reversal, dueAt: hourAgo }) }
}

const event = toMovementEvent(
  documentOf({
    ...{ scope, spec: told, reference: newId('txn') },
    state: { ...initialState('BET', hourAgo), ...taken },
  }),
  'transaction.bet',
)
const { refund, document: stakeToReturn } = unplaced()
const entry = { ...sampleAuditEntry(), act: 'movement.resolve' as const }
for (const { key, name, partialFilterExpression } of movementIndexes.movements) {
  if (partialFilterExpression !== undefined) await stored.createIndex(key, { name, partialFilterExpression })
}
await stored.insertMany([
  earlier(finished, taken),
  earlier(told, taken, { outbox: [event], outboxAt: hourAgo }),
  earlier(audited, taken, { auditOutbox: [entry], auditOutboxAt: hourAgo }),
  earlier(owed, { tries: 3, unknownTries: 3, dueAt: hourAgo }),
  earlier(looked, taken, { lookAt: hourAgo, lookFor: ['BIG_WIN'] }),
  stakeToReturn,
])

await t.test('an upgrade that is interrupted is repeated, and nothing comes twice', async (t) => {
  // It dies before the duties of its entries are done.
  const never = { name: 'never', run: () => Promise.reject(new Error('it ends before')) }
  const money = await openTestMoney(t, db, { duties: [never] })
  const upgrade = () =>
    upgradeStorage({ db, clock: { now: () => new Date() }, clockAheadMs: () => 0 }, money, {
      stopping: new AbortController().signal,
      logger: silentLogger,
    })
  t.equal(await upgrade(), true)
  const entries = () => db.collection('journal').find({}).sort({ _id: 1 }).toArray()
  const before = await entries()
  await db.collection('upgrades').deleteMany({})
  t.equal(await upgrade(), true)
  t.same(await entries(), before)
  t.equal(
    await db.collection('journal').countDocuments({
      _id: {
        $gt: moneyStream({ ...scope, roundId: finished.roundId }),
        $lt: `${moneyStream({ ...scope, roundId: finished.roundId })}/~`,
      } as object,
    }),
    0,
    'what is finished stays as it is',
  )
})

const bridge = await startBridge(environment)
t.teardown(() => bridge.stop())

await t.test('what an earlier build owed is paid and given back, once', async (t) => {
  await waitFor(() => isAllDone(db), { what: 'all has ended' })
  for (const spec of [owed, refund])
    t.match(await client.show(spec.transactionId), { movement: { status: 'SUCCESS' } })
  t.match(await client.show(returned.transactionId), { movement: { status: 'REFUNDED' } })
  t.equal((await wallet.calls({})).length, 2)
  t.same(await listedWrongly(db), [])
})

await t.test('events, audit entries and flags that waited follow', async (t) => {
  await waitFor(() => suite.eventsOf(told.transactionId)[0], { what: 'its event' })
  t.same(
    suite.eventsOf(told.transactionId).map(({ id }) => id),
    [event.id],
  )
  await waitFor(() => log.find(({ audit_id }) => audit_id === entry.audit_id), { what: 'its audit entry' })
  await waitFor(() => db.collection('flags').findOne({ transactionIds: looked.transactionId }), {
    what: 'its flag',
  })
  t.equal(await db.collection('flags').countDocuments(), 1)
})

await t.test('a finished movement of an earlier build is joined, told again and given back', async (t) => {
  const calls = (await wallet.calls({})).length
  t.match(await client.place(finished), { outcome: { kind: 'done' }, created: false })
  await t.rejects(client.place({ ...finished, roundId: newId('rnd') }), { code: 'TRANSACTION_CONFLICT' })
  t.equal((await wallet.calls({})).length, calls)
  const { data } = await suite.bus.call(opsMovementEvents, { roundId: finished.roundId })
  t.equal(data.length, 1)
  t.match(await client.place(reversalOf(finished, 'REFUND')), { outcome: { kind: 'done' }, created: true })
  t.match(await client.show(finished.transactionId), { movement: { status: 'REFUNDED' } })
  t.match(await stored.findOne({ _id: movementIdOf(scope, finished.transactionId) }), {
    status: 'REFUNDED',
    walletKey: scopeKey(scope),
  })
  t.equal((await stored.findOne({ _id: movementIdOf(scope, finished.transactionId) }))?.outbox, undefined)
})
