import {
  dashboardGetTransaction,
  dashboardListTransactions,
  getTransaction,
  getTransactionAttempts,
  getWalletSeries,
  listTransactions,
} from '@pitboss/contracts/endpoints/wallet'
import {
  opsListMovements,
  opsListStakes,
  opsMovementsOfRound,
  opsResolveMovement,
  opsShowMovement,
  opsWalletStatus,
} from '@pitboss/contracts/calls/wallet-ops'
import { roundTransactions, walletHealth } from '@pitboss/contracts/calls/dashboard'
import { reconcileChunk, reconcileOurs, roundMovements } from '@pitboss/contracts/calls/wallet'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { Movement } from '@pitboss/contracts/objects/movement'
import { newId } from '@pitboss/runtime/new-id'
import { createFiguresStore } from '@pitboss/storage/figures-store'
import { foldFigures, settledAfterMs } from '@pitboss/storage/fold-figures'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import type { z } from 'zod'
import { readCalls } from '../src/actions/read-call-series.ts'
import { createMovementLists } from '../src/storage/movement-lists.ts'
import { createListedMovements, fromListed } from '../src/storage/listed-movements.ts'
import {
  callerOf,
  clientOf,
  configureWallet,
  newScope,
  reversalOf,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { openWallet } from './fixtures/open-wallet.ts'

const suite = await startSuite(t)
const bridge = await startBridge(suite.environment())
t.teardown(() => bridge.stop())
const { wallet, scope, client } = await openWallet(t, suite.bus)
const order = { by: 'test', reason: 'because', dryRun: false }

type Query = Partial<z.infer<typeof listTransactions.call.request>['query']>
const list = (query: Query, as: Scope = scope) =>
  suite.bus.call(listTransactions.call, {
    caller: callerOf(as),
    params: {},
    query: { limit: 50, ...query },
    body: undefined,
  })

async function pages(query: Query): Promise<Movement[]> {
  const all: Movement[] = []
  let cursor: string | undefined
  for (let page = 1; page <= 20; page++) {
    const { body } = await list({ ...query, ...(cursor === undefined ? {} : { cursor }) })
    all.push(...body.data)
    if (body.next_cursor === null) return all
    cursor = body.next_cursor
  }
  throw new Error('the list has no end')
}

const sessionId = newId('ses')
const placed: Movement[] = []
for (let n = 0; n < 7; n++) {
  const bet = specOf({ playerId: n < 4 ? 'ann' : 'ben', ...(n < 3 ? { sessionId } : {}) })
  placed.push((await client.place(bet)).movement)
}
const lostBet = specOf({ playerId: 'broke' })
placed.push((await client.place(lostBet)).movement)

await t.test('movements are listed newest first, page by page, and filtered', async (t) => {
  const newestFirst = placed.map(({ transaction_id }) => transaction_id).toReversed()
  const ids = (movements: Movement[]) => movements.map(({ transaction_id }) => transaction_id)
  t.same(ids(await pages({ limit: 3 })), newestFirst)
  t.same(ids(await pages({ limit: 8 })), newestFirst, 'an exact page has no next')
  t.equal((await pages({ player_id: 'ann', limit: 2 })).length, 4)
  t.equal((await pages({ session_id: sessionId })).length, 3)
  t.equal((await pages({ round_id: placed[0]?.round_id ?? '' })).length, 1)
  t.same(ids(await pages({ status: 'FAILED' })), [lostBet.transactionId])
  t.equal((await pages({ type: 'WIN' })).length, 0)
  const third = placed[2]
  t.same(ids(await pages({ from: third?.created_at ?? '', to: third?.created_at ?? '' })), [
    third?.transaction_id,
  ])
  t.equal((await pages({ to: new Date(Date.now() - 8 * 86_400_000).toISOString() })).length, 0)
  t.equal((await pages({ from: new Date(Date.now() + 60_000).toISOString() })).length, 0)
  t.same((await list({}, newScope())).body, { data: [], next_cursor: null })
})

await t.test('a cursor is bound to its list, filters and account', async (t) => {
  const { body } = await list({ limit: 2 })
  const cursor = body.next_cursor ?? ''
  const refused = { code: 'VALIDATION_ERROR', details: [{ path: 'cursor' }] }
  await t.rejects(list({ limit: 2, cursor, player_id: 'ann' }), refused)
  await t.rejects(list({ limit: 2, cursor }, newScope()), refused)
  await t.rejects(list({ limit: 2, cursor: `${cursor}x` }), refused)
  await t.rejects(list({ limit: 2, cursor: 'x' }), refused)
  t.equal((await list({ limit: 5, cursor })).body.data.length, 5, 'the page may change its size')
})

await t.test('one movement is read by the operator and by the dashboard', async (t) => {
  const id = lostBet.transactionId
  const ask = (as: Scope) =>
    suite.bus.call(getTransaction.call, {
      caller: callerOf(as),
      params: { transaction_id: id },
      query: {},
      body: undefined,
    })
  t.match((await ask(scope)).body, { transaction_id: id, status: 'FAILED', environment: 'SANDBOX' })
  const unknown = { code: 'TRANSACTION_NOT_FOUND' }
  await t.rejects(ask(newScope()), unknown)
  await t.rejects(ask({ ...scope, environment: 'LIVE' }), unknown)
  const dashboard = await suite.bus.call(dashboardGetTransaction.call, {
    caller: callerOf({ ...scope, environment: 'LIVE' }, { eitherEnvironment: true }),
    params: { transaction_id: id },
    query: {},
    body: undefined,
  })
  t.equal(dashboard.body.transaction_id, id)
  const listed = await suite.bus.call(dashboardListTransactions.call, {
    caller: callerOf({ ...scope, environment: 'LIVE' }),
    params: {},
    query: { limit: 50, environment: 'LIVE' },
    body: undefined,
  })
  t.same(listed.body.data, [])
})

await t.test('the series of a wallet counts each call of its movements once', async (t) => {
  const { storage } = suite
  const stored = createListedMovements(storage.db)
  const attempts = (await stored.collection.find({ walletKey: scopeKey(scope) }).toArray()).flatMap(
    (movement) => fromListed(movement).attempts,
  )
  const clock = { now: () => new Date(Date.now() + 10 * settledAfterMs) }
  const folding = {
    figures: createFiguresStore(storage.db),
    clock,
    readFacts: (from: Date) => readCalls({ lists: createMovementLists(stored) }, from),
  }
  while (await foldFigures(folding));
  const ask = (as: Scope) =>
    suite.bus.call(getWalletSeries.call, {
      caller: callerOf(as),
      params: { environment: 'TEST' },
      query: { to: clock.now().toISOString(), step_s: 86_400 },
      body: undefined,
    })
  const { points } = (await ask(scope)).body
  const sum = (of: 'success' | 'refused' | 'unknown') =>
    points.reduce((total, { debit }) => total + debit[of], 0)
  const judged = (as: string) => attempts.filter(({ classification }) => classification === as).length
  t.equal(attempts.length, placed.length)
  t.same([sum('success'), sum('refused'), sum('unknown')], ['SUCCESS', 'REFUSED', 'UNKNOWN'].map(judged))
  await t.rejects(ask(newScope()), { code: 'NOT_FOUND' }, 'an account without a wallet has no series')
})

await t.test('every wallet call is listed, without its signature', async (t) => {
  await wallet.setFaults([
    { operation: 'credit', player_id: 'told', kind: 'rubbish', apply: false, count: 1 },
  ])
  const win = specOf({ type: 'WIN', playerId: 'told' })
  await client.place(win)
  await waitFor(
    async () => {
      return (await client.show(win.transactionId))?.movement.status === 'SUCCESS'
    },
    { what: 'the win is credited' },
  )
  const attempts = (query: { limit: number; cursor?: string }) =>
    suite.bus.call(getTransactionAttempts.call, {
      caller: callerOf(scope),
      params: { transaction_id: win.transactionId },
      query,
      body: undefined,
    })
  const { body } = await attempts({ limit: 50 })
  t.match(body.data, [
    { attempt: 1, operation: 'credit', classification: 'UNKNOWN', http_status: 200, next_attempt_at: /Z$/ },
    { attempt: 2, classification: 'SUCCESS', wallet_code: 'OK', next_attempt_at: null },
  ])
  t.notMatch(JSON.stringify(body), /signature/)
  t.equal(body.next_cursor, null)

  const first = (await attempts({ limit: 1 })).body
  t.same(first.data, body.data.slice(0, 1), 'the calls are paged like every list')
  const cursor = first.next_cursor ?? ''
  t.same((await attempts({ limit: 1, cursor })).body, { data: body.data.slice(1), next_cursor: null })
  await t.rejects(attempts({ limit: 1, cursor: 'damaged' }), { code: 'VALIDATION_ERROR' })
  await t.rejects(list({ cursor }), { code: 'VALIDATION_ERROR' }, 'a cursor belongs to its list')
})

await t.test('the last try of a stake names no next one: what follows is its rollback', async (t) => {
  const faults = { operation: 'debit', player_id: 'spent' } as const
  await wallet.setFaults([
    { ...faults, kind: 'drop', apply: false, nth: 1 },
    { ...faults, kind: 'refuse', code: 'LIMIT_EXCEEDED', nth: 2 },
  ])
  const bet = specOf({ playerId: 'spent' })
  await client.place(bet)
  const ask = { ...{ caller: callerOf(scope), query: { limit: 50 } }, body: undefined }
  const params = { transaction_id: bet.transactionId }
  const tries = async () =>
    (await suite.bus.call(getTransactionAttempts.call, { ...ask, params })).body.data.filter(
      ({ operation }) => operation === 'debit',
    )
  await waitFor(async () => (await client.show(bet.transactionId))?.movement.status === 'ROLLED_BACK', {
    what: 'the stake is given back',
  })
  await wallet.clearFaults()
  t.match(await tries(), [
    { classification: 'UNKNOWN', next_attempt_at: /Z$/ },
    { wallet_code: 'LIMIT_EXCEEDED', next_attempt_at: null },
  ])
})

await t.test('operations list the stakes of a window, whatever became of them', async (t) => {
  const code = 'PLAYER_BLOCKED'
  await wallet.setFaults([{ operation: 'debit', player_id: 'blocked', kind: 'refuse', code }])
  const [taken, refused] = [specOf({ playerId: 'ann' }), specOf({ playerId: 'blocked' })]
  const refund = reversalOf(taken, 'REFUND')
  for (const spec of [taken, refused, refund]) await client.place(spec)
  await wallet.clearFaults()
  const at = Date.now()
  const window = { from: new Date(at - 3_600_000).toISOString(), to: new Date(at + 60_000).toISOString() }
  const { data, next } = await suite.bus.call(opsListStakes, { scope, ...window, after: null })
  t.same(data.slice(-2), [taken.transactionId, refused.transactionId])
  t.notOk(data.includes(refund.transactionId))
  t.equal(next, null)
  const before = { from: window.from, to: window.from }
  t.same((await suite.bus.call(opsListStakes, { scope, ...before, after: null })).data, [])
})

await t.test('a person ends an owed movement, and its original with it', async (t) => {
  await wallet.setFaults([{ operation: 'credit', player_id: 'owed', kind: 'http_error' }])
  const bet = specOf({ playerId: 'owed', driver: 'operator' })
  await client.place(bet)
  const refund = reversalOf(bet, 'REFUND')
  await client.place(refund)
  const { reference } = (await client.show(refund.transactionId))?.movement ?? { reference: '' }
  const pending = await suite.bus.call(opsListMovements, { status: 'PENDING', olderThanS: null, limit: 10 })
  t.ok(pending.data.some((movement) => movement.reference === reference))
  t.same((await suite.bus.call(opsListMovements, { status: 'PENDING', olderThanS: 600, limit: 10 })).data, [])
  t.match(await suite.bus.call(opsWalletStatus, {}), { pending: 1, alarms: { over_5m: 0 } })
  const ask = (as: 'success' | 'failed', dryRun: boolean) =>
    suite.bus.call(opsResolveMovement, { order: { ...order, dryRun }, reference, as })
  t.equal((await ask('success', true)).status, 'PENDING')
  t.equal((await ask('failed', false)).status, 'FAILED')
  await t.rejects(ask('success', false), { code: 'CONFLICT' })
  t.match(await client.show(bet.transactionId), { movement: { status: 'SUCCESS' } })
  await wallet.clearFaults()
  const again = await client.place(reversalOf(bet, 'REFUND'))
  t.equal(again.movement.status, 'SUCCESS', 'the bet can be given back after all')
  t.match(await client.show(bet.transactionId), { movement: { status: 'REFUNDED' } })
  const shown = await suite.bus.call(opsShowMovement, { reference: refund.transactionId })
  t.match(shown, { movement: { reference, operator_id: /^op_[0-9a-f]{32}$/ } })
  await t.rejects(suite.bus.call(opsShowMovement, { reference: 'txn_unknown' }), {
    code: 'TRANSACTION_NOT_FOUND',
  })
  const ofRound = await suite.bus.call(opsMovementsOfRound, { roundId: bet.roundId })
  t.same(
    ofRound.data.map(({ movement }) => movement.type),
    ['BET', 'REFUND', 'REFUND'],
  )
  t.equal((await suite.bus.call(roundMovements, { scope, roundId: bet.roundId })).data.length, 3)
})

await t.test('a dossier has the movements of its round with their calls, and no other account', async (t) => {
  await wallet.clearFaults()
  const bet = specOf({ playerId: 'dora' })
  await client.place(bet)
  const ask = (as: Scope) => suite.bus.call(roundTransactions, { caller: callerOf(as), roundId: bet.roundId })
  const { data, complete } = await ask(scope)
  t.ok(complete)
  t.match(data, [
    {
      movement: { transaction_id: bet.transactionId, status: 'SUCCESS' },
      attempts: [{ attempt: 1, operation: 'debit', classification: 'SUCCESS' }],
      ...{ next_attempt_at: null, call_began_at: null, rollback_owed: false },
    },
  ])
  t.strictSame((await ask(newScope())).data, [])
  const health = (as: Scope) => suite.bus.call(walletHealth, { caller: callerOf(as) })
  t.match(await health(newScope()), { configured: false, unresolved: 0, oldest_unresolved: null })
  const win = { ...specOf({ playerId: 'dora' }), type: 'WIN', roundId: bet.roundId } as const
  await wallet.setFaults([{ operation: 'credit', player_id: 'dora', kind: 'http_error' }])
  await client.place(win)
  const owed = await waitFor(async () => {
    const last = (await ask(scope)).data.at(-1)
    return last?.movement.type === 'WIN' && last.call_began_at === null ? last : null
  })
  t.match(owed, { movement: { status: 'PENDING' }, attempts: [{ classification: 'UNKNOWN' }] })
  t.equal(owed?.next_attempt_at, owed?.attempts.at(-1)?.next_attempt_at, 'the plan of the last call')
  const standing = await health(scope)
  t.match(standing, { configured: true, breaker_open: false })
  t.ok(standing.unresolved > 0)
  t.type(standing.oldest_unresolved?.created_at, 'string')
  await wallet.clearFaults()
})

await t.test("an operator's ledger is compared with ours", async (t) => {
  const [first, second] = placed
  const row = (movement: Movement | undefined, change = {}) => ({
    transaction_id: movement?.transaction_id ?? '',
    type: 'BET',
    amount: '10.00',
    currency: 'USD',
    player_id: null,
    ...change,
  })
  const window = { from: placed[0]?.created_at ?? '', to: new Date().toISOString() }
  const { differences, matched } = await suite.bus.call(reconcileChunk, {
    scope,
    ...window,
    rows: [
      row(first, { amount: '10' }),
      row(first),
      row(second, { amount: '9.00' }),
      row(undefined, { transaction_id: 'bet_nobody' }),
      row(undefined, { transaction_id: lostBet.transactionId }),
    ],
  })
  t.equal(matched, 1)
  t.match(differences, [
    { kind: 'duplicate' },
    { kind: 'different', fields: [{ field: 'amount', ours: '10.00', theirs: '9.00' }] },
    { kind: 'extra', transaction_id: 'bet_nobody' },
    { kind: 'extra', transaction_id: lostBet.transactionId, fields: [{ field: 'status', ours: 'FAILED' }] },
  ])
  const ours = await suite.bus.call(reconcileOurs, { scope, ...window, after: null })
  t.ok(ours.rows.some(({ transaction_id }) => transaction_id === first?.transaction_id))
  t.notOk(ours.rows.some(({ transaction_id }) => transaction_id === lostBet.transactionId))
  t.equal(ours.next, null)
})

await t.test("what may be in another day's ledger, or moved nothing, is not looked for", async (t) => {
  const own = newScope()
  await wallet.setSecret(await configureWallet(suite.bus, own, wallet.url))
  const ours = clientOf(suite.bus, own)
  const settled = async (id: string, status: string) => {
    await waitFor(async () => (await ours.show(id))?.movement.status === status, {
      what: `${id} is ${status}`,
    })
    return (await ours.show(id))?.movement
  }
  await wallet.setFaults([
    { operation: 'debit', player_id: 'never', kind: 'drop', apply: false },
    // The tombstone is made, its answer is lost, and the repeat is answered as a success.
    { operation: 'rollback', player_id: 'never', kind: 'drop', apply: true, count: 1 },
    { operation: 'rollback', player_id: 'never', kind: 'refuse', code: 'DUPLICATE', http_status: 200 },
    { operation: 'credit', player_id: 'late', kind: 'http_error', apply: false, count: 1 },
  ])
  const never = specOf({ playerId: 'never' })
  await ours.place(never)
  const { rollback } = await ours.void(never)
  t.match(await settled(rollback?.transaction_id ?? '', 'SUCCESS'), { wallet_code: 'DUPLICATE' })
  const late = specOf({ type: 'WIN', playerId: 'late' })
  await ours.place(late)
  const paid = await settled(late.transactionId, 'SUCCESS')
  await wallet.clearFaults()
  const [bet, back] = [specOf(), 'rbk_given_back']
  await ours.place(bet)
  await ours.place({ ...reversalOf(bet, 'ROLLBACK'), transactionId: back })

  const demanded = async (from: Date, to: Date) => {
    const window = { from: from.toISOString(), to: to.toISOString() }
    const { rows } = await suite.bus.call(reconcileOurs, { scope: own, ...window, after: null })
    return rows.map(({ transaction_id }) => transaction_id)
  }
  const [asked, end] = [new Date(paid?.created_at ?? ''), new Date(Date.now() + 60_000)]
  const whole = await demanded(new Date(asked.getTime() - 600_000), end)
  t.same(whole, [late.transactionId, bet.transactionId, back])
  t.same(await demanded(asked, new Date(asked.getTime() + 100)), [], 'it was paid after the window')
})

await t.test('a movement that was read while its stake is in flight is listed', async (t) => {
  const own = newScope()
  await wallet.setSecret(await configureWallet(suite.bus, own, wallet.url))
  await wallet.setFaults([{ operation: 'debit', player_id: 'waits', kind: 'hang', apply: false }])
  const ours = clientOf(suite.bus, own)
  const spec = specOf({ playerId: 'waits' })
  const placing = ours.place(spec)
  const params = { transaction_id: spec.transactionId }
  const read = async () => {
    const asked = { caller: callerOf(own), params, query: {}, body: undefined }
    return (await suite.bus.call(getTransaction.call, asked)).body
  }
  const found = await waitFor(() => read().catch(() => null), { what: 'the stake' })
  t.equal(found.status, 'PENDING')
  t.match((await list({ status: 'PENDING' }, own)).body.data, [{ transaction_id: spec.transactionId }])
  await wallet.clearFaults()
  await placing
})
