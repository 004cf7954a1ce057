import type { Scope } from '@pitboss/contracts/caller'
import {
  opsHealMovements,
  opsMovementFacts,
  opsPlayerMovements,
  opsResolveMovement,
  opsStakesInDoubt,
} from '@pitboss/contracts/calls/wallet-ops'
import { type MovementSpec, voidStake } from '@pitboss/contracts/calls/wallet'
import { newId } from '@pitboss/runtime/new-id'
import { serveAuditLog } from '@pitboss/testing/serve-audit-log'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { movementIdOf } from '../src/rules/movement-keys.ts'
import { fromListed, type StoredMovement } from '../src/storage/listed-movements.ts'
import type { MovementDocument } from '../src/storage/movement-document.ts'
import { claimOf, type MoneyFact, moneyOf, moneyStream } from '../src/storage/round-money.ts'
import { entriesOf } from '@pitboss/storage/journal/journal-keys'
import { reversalOf, silentLogger, specOf, startBridge, startSuite } from './fixtures/bridge.ts'
import { readEntries, writeEntries } from '@pitboss/testing/stored-entries'
import { openWallet } from './fixtures/open-wallet.ts'

const suite = await startSuite(t)
const environment = suite.environment()
let bridge = await startBridge(environment)
t.teardown(() => bridge.stop())
const log = await serveAuditLog(t, suite.bus, silentLogger)
const { wallet, scope, client } = await openWallet(t, suite.bus)
const { db } = suite.storage
const movements = db.collection<StoredMovement>('movements')
/** A movement as lists show it. */
async function listed(of: Scope, transactionId: string): Promise<MovementDocument | null> {
  const found = await movements.findOne({ _id: movementIdOf(of, transactionId) })
  return found === null ? null : fromListed(found)
}
const journal = db.collection<{ _id: string }>('journal')
const { standings, asked } = suite.rounds
const order = { by: 'ann', reason: 'the ledger has it', dryRun: false }

/** Changes the database while no process works on it. */
async function restore(change: () => Promise<unknown>, settings: Record<string, string> = {}): Promise<void> {
  await bridge.stop()
  await change()
  bridge = await startBridge({ ...environment, ...settings })
}

const streamOf = ({ roundId }: MovementSpec) => moneyStream({ ...scope, roundId })
const entriesIn = (spec: MovementSpec) => readEntries<MoneyFact>(db, streamOf(spec))

/**
 * Sets a stake back to the moment at which its first call was under way, an hour ago: so a backup holds it
 * that was made then.
 */
const setBack = (spec: MovementSpec, settings?: Record<string, string>) =>
  restore(async () => {
    const [intent, ...later] = await entriesIn(spec)
    const [fact] = intent?.f ?? []
    if (intent === undefined || fact === undefined || !('base' in fact)) throw new Error('it was never made')
    const startedAt = new Date(Date.now() - 3_600_000)
    const until = new Date(startedAt.getTime() + 5000)
    const call = { token: 'call_lost', attempt: 1, startedAt, until }
    const then = { call, dueAt: until, createdAt: startedAt, updatedAt: startedAt }
    const base = { ...fact.base, ...then }
    const { _id, w } = intent
    const o = 'ins_of_the_backup'
    await journal.deleteMany({ _id: { $in: [intent, ...later].map((entry) => entry._id) } })
    await writeEntries<MoneyFact>(db, [{ _id, w, o, q: 1, at: startedAt, f: [{ base }] }])
    await movements.replaceOne({ _id: base._id }, { ...base, n: 1, w, o, open: true } as StoredMovement, {
      upsert: true,
    })
  }, settings)

/** Loses the movements of a round. */
const lose = (spec: MovementSpec) =>
  restore(async () => {
    const lost = [...moneyOf(await entriesIn(spec)).values()].map(({ _id }) => _id)
    await movements.deleteMany({ _id: { $in: lost } })
    await forget(spec, lost)
  })

async function forget(spec: MovementSpec, ids: readonly string[]): Promise<void> {
  await journal.deleteMany({ _id: { $in: ids.map((id) => claimOf(id).key) } })
  await journal.deleteMany(entriesOf(streamOf(spec)))
}

const ended = (spec: MovementSpec) =>
  waitFor(async () => {
    const shown = await client.show(spec.transactionId)
    return shown?.movement.status === 'PENDING' ? null : shown
  })
const operations = async (playerId: string) =>
  (await wallet.ledger({ player_id: playerId }))
    .filter(({ operation }) => operation !== 'adjustment')
    .map(({ operation, status }) => `${operation} ${status}`)

t.test('a stake that was played is not rolled back by a restored database', async (t) => {
  const spec = specOf({ playerId: 'played' })
  t.match((await client.place(spec)).outcome, { kind: 'done' })
  const told = await waitFor(() => suite.eventsOf(spec.transactionId)[0])
  standings.set(spec.transactionId, 'taken')
  await setBack(spec)
  t.match(await ended(spec), { outcome: { kind: 'done' }, movement: { status: 'SUCCESS' } })
  t.same(await operations('played'), ['debit APPLIED'])
  const events = (await entriesIn(spec)).flatMap(({ ev = [] }) => ev)
  t.same(
    events.map(({ id }) => id),
    [told.id],
    'its event is the one that was told',
  )
  const entry = await waitFor(() => log.find(({ act }) => act === 'movement.heal'))
  t.match(entry, { actor: { kind: 'service' }, before: { status: 'PENDING' }, after: { status: 'SUCCESS' } })
})

t.test('a stake of which nobody was told goes back once rounds has said so', async (t) => {
  const spec = specOf({ playerId: 'unplayed' })
  await client.place(spec)
  standings.set(spec.transactionId, 'silent')
  await setBack(spec)
  await waitFor(() => asked.includes(spec.transactionId))
  t.match(await client.show(spec.transactionId), { movement: { status: 'PENDING' } })
  t.same(await operations('unplayed'), ['debit APPLIED'], 'it waits for rounds')
  standings.set(spec.transactionId, 'not-taken')
  t.match(await ended(spec), { movement: { status: 'ROLLED_BACK' } })
  t.match(await operations('unplayed'), ['debit ROLLED_BACK', 'rollback APPLIED'])
})

t.test('a stake that rounds does not know waits for a person', async (t) => {
  for (const as of ['success', 'failed'] as const) {
    const spec = specOf({ playerId: `doubted-${as}` })
    const { movement } = await client.place(spec)
    const resolve = () => suite.bus.call(opsResolveMovement, { order, reference: movement.reference, as })
    await t.rejects(resolve(), { code: 'CONFLICT' })
    standings.set(spec.transactionId, 'unknown')
    await setBack(spec)
    await waitFor(async () => {
      const found = await listed(scope, spec.transactionId)
      return found?.inDoubt === true
    })
    const { data } = await suite.bus.call(opsStakesInDoubt, { scope, after: null })
    t.same(
      data.map(({ transaction_id }) => transaction_id),
      [spec.transactionId],
    )
    await resolve()
    t.match(await ended(spec), { movement: { status: as === 'success' ? 'SUCCESS' : 'ROLLED_BACK' } })
    t.equal((await operations(`doubted-${as}`)).length, as === 'success' ? 1 : 2)
  }
})

const inDoubt = ({ transactionId }: MovementSpec) =>
  waitFor(async () => {
    const found = await listed(scope, transactionId)
    return found?.inDoubt === true ? found : null
  })

t.test('a stake of which events tell is not rolled back, though rounds was set back, too', async (t) => {
  const cases = [
    ['taken', 'taken-by-events'],
    ['unknown', 'events-missing'],
  ] as const
  for (const [logged, doubt] of cases) {
    const playerId = `set-back-${logged}`
    const spec = specOf({ playerId })
    const { movement } = await client.place(spec)
    standings.set(spec.transactionId, 'not-taken')
    suite.eventLog.standings.set(spec.transactionId, logged)
    await setBack(spec)
    t.match(await inDoubt(spec), { status: 'PENDING', reversal: null, doubt })
    // Nor does rounds take it back, which does not know better.
    t.match(await client.void(spec), { stake: { status: 'PENDING' }, rollback: null })
    const { data } = await suite.bus.call(opsMovementFacts, { reference: movement.reference })
    t.match(data, [{ in_doubt: doubt, rollback_owed: false }])
    t.same(await operations(playerId), ['debit APPLIED'])
    await suite.bus.call(opsResolveMovement, { order, reference: movement.reference, as: 'success' })
    t.match(await ended(spec), { movement: { status: 'SUCCESS' } })
  }
})

t.test('a stake of which everything was set back waits for a person', async (t) => {
  const spec = specOf({ playerId: 'all-set-back' })
  const { movement } = await client.place(spec)
  standings.set(spec.transactionId, 'not-taken')
  suite.eventLog.standings.set(spec.transactionId, 'not-taken')
  await setBack(spec, { PITBOSS_STAKES_IN_DOUBT_BEFORE: new Date().toISOString() })
  t.match(await inDoubt(spec), { status: 'PENDING', reversal: null, doubt: 'events-missing' })
  t.same(await operations('all-set-back'), ['debit APPLIED'])
  await suite.bus.call(opsResolveMovement, { order, reference: movement.reference, as: 'success' })
  t.match(await ended(spec), { movement: { status: 'SUCCESS' } })
})

t.test('a stake goes back only once events were asked about it', async (t) => {
  const spec = specOf({ playerId: 'unlogged' })
  await client.place(spec)
  const { standings: logged, asked: askedOf } = suite.eventLog
  logged.set(spec.transactionId, 'silent')
  await setBack(spec)
  await waitFor(() => askedOf.includes(spec.transactionId))
  t.match(await client.show(spec.transactionId), { movement: { status: 'PENDING' } })
  t.same(await operations('unlogged'), ['debit APPLIED'])
  logged.set(spec.transactionId, 'not-taken')
  t.match(await ended(spec), { movement: { status: 'ROLLED_BACK' } })
})

t.test('a lost stake that rounds still waits for is not taken back against the events', async (t) => {
  const askedAt = new Date(Date.now() - 3_600_000).toISOString()
  const voidLost = async (playerId: string, logged: 'taken' | 'not-taken') => {
    const spec = specOf({ playerId })
    await client.place(spec)
    await lose(spec)
    suite.eventLog.standings.set(spec.transactionId, logged)
    const asked = { scope, stake: spec, rollbackTransactionId: newId('rbk'), askedAt }
    t.match(await suite.bus.call(voidStake, asked), { outcome: { kind: 'pending' }, rollback: null })
    return spec
  }
  const played = await voidLost('lost-played', 'taken')
  t.match(await inDoubt(played), { status: 'PENDING', reversal: null, doubt: 'taken-by-events' })
  t.same(await operations('lost-played'), ['debit APPLIED'])
  t.match(await ended(await voidLost('lost-unplayed', 'not-taken')), { movement: { status: 'ROLLED_BACK' } })
  t.same(await operations('lost-unplayed'), ['debit ROLLED_BACK', 'rollback APPLIED'])
})

t.test('a stake that is lost is still refunded, once', async (t) => {
  const spec = specOf({ playerId: 'lost' })
  await client.place(spec)
  await lose(spec)
  const refund = reversalOf(spec, 'REFUND')
  await t.rejects(client.place(refund), { code: 'TRANSACTION_NOT_FOUND' })
  t.match(await client.place(refund, spec), { outcome: { kind: 'done' }, created: true })
  t.match(await client.place(refund, spec), { outcome: { kind: 'done' }, created: false })
  t.match(await client.show(spec.transactionId), { movement: { status: 'REFUNDED' } })
  t.same(await operations('lost'), ['debit APPLIED', 'credit APPLIED'])
  t.match(
    await client.place(spec),
    { movement: { status: 'REFUNDED' }, created: false },
    'it is not sent again',
  )
  const { data } = await suite.bus.call(opsPlayerMovements, { scope, playerId: 'lost', before: null })
  t.equal(data.length, 2)
})

t.test('a zero win that is lost was called for where an event tells of it, and else not', async (t) => {
  const { scope: own } = await openWallet(t, suite.bus, { settle_losses: 'zero_credit' })
  const zero = () => specOf({ type: 'WIN', amount: '0.00', playerId: 'zero' })
  const told = { reference: newId('txn'), at: new Date().toISOString() }
  const [silent, called] = [zero(), zero()]
  const certain = [
    { spec: silent, end: 'SUCCESS', code: null, told: null },
    { spec: called, end: 'SUCCESS', code: null, told },
  ] as const
  await suite.bus.call(opsHealMovements, { order, scope: own, movements: [...certain] })
  const operationOf = async ({ transactionId }: MovementSpec) => (await listed(own, transactionId))?.operation
  t.equal(await operationOf(silent), null)
  t.equal(await operationOf(called), 'credit')
})

t.test('movements that are lost are written as rounds knows them, and no wallet is called', async (t) => {
  const [bet, other] = [specOf({ playerId: 'healed' }), specOf({ playerId: 'healed' })]
  const win = { ...specOf({ type: 'WIN', playerId: 'healed' }), roundId: bet.roundId }
  const refund = reversalOf(other, 'REFUND')
  for (const spec of [bet, other, win, refund]) await client.place(spec)
  const before = await movements.find({ playerId: 'healed' }).map(fromListed).toArray()
  await lose(bet)
  // The backup holds this one as it was before its refund.
  await restore(async () => {
    const [intent, answer, ...later] = await entriesIn(other)
    if (intent === undefined || answer === undefined) throw new Error('it was never taken')
    const ids = [...later.map(({ _id }) => _id), claimOf(movementIdOf(scope, refund.transactionId)).key]
    await journal.deleteMany({ _id: { $in: ids } })
    await movements.deleteOne({ _id: movementIdOf(scope, refund.transactionId) })
    const [before] = moneyOf([intent, answer]).values()
    if (before === undefined) throw new Error('it was never made')
    await movements.replaceOne({ _id: before._id }, before)
  })
  t.match(await client.show(other.transactionId), { movement: { status: 'SUCCESS' } })
  const certain = [bet, other, win, refund].map((spec) => {
    const known = before.find(({ transactionId }) => transactionId === spec.transactionId)
    const told = { reference: known?.reference ?? '', at: known?.createdAt.toISOString() ?? '' }
    return { spec, end: 'SUCCESS', code: null, told } as const
  })
  const heal = async (dryRun: boolean) => {
    const asked = { order: { ...order, dryRun }, scope, movements: certain }
    return (await suite.bus.call(opsHealMovements, asked)).data
  }
  const lost = [bet, win, refund].map(({ transactionId }) => transactionId)
  const calls = (await wallet.calls({})).length
  t.same(await heal(true), lost)
  t.same(await heal(false), lost)
  t.same(await heal(false), [], 'once more changes nothing')
  t.equal((await wallet.calls({})).length, calls, 'no wallet is called')
  for (const { transactionId, status, reference, body } of before) {
    const found = await listed(scope, transactionId)
    t.match(found, { status, reference, dueAt: null })
    t.equal(found?.amount, before.find((one) => one.body === body)?.amount)
  }
  t.match(await client.place(bet), { outcome: { kind: 'done' }, created: false }, 'a repeat joins it')
  await t.rejects(client.place(reversalOf(other, 'REFUND', 'again')), {
    code: 'TRANSACTION_ALREADY_REVERSED',
  })
})
