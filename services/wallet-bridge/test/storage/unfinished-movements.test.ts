import { scopeKey } from '@pitboss/contracts/caller'
import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { documentOf, initialState } from '../../src/records/new-movement.ts'
import type { MovementState } from '../../src/rules/movement.ts'
import { createUnfinishedMovements } from '../../src/storage/unfinished-movements.ts'
import { indexes } from '../../src/all-wings.ts'
import { newScope, specOf } from '../fixtures/bridge.ts'
import { shardedMovements } from '../fixtures/sharded-movements.ts'
import { openTestMoney } from '../fixtures/test-money.ts'

const db = await openTestDatabase(t)
await ensureIndexes(db, indexes)
const money = await openTestMoney(t, shardedMovements(db))
const { movements, unfinished } = money

const s = 1000
const min = 60 * s
const h = 60 * min
const now = new Date('2026-11-22T12:00:00.000Z')
const inMs = (ms: number) => new Date(now.getTime() + ms)

/** A movement that a process waits with. */
function waiting(change: Partial<MovementState>, scope = newScope()) {
  const type = change.type ?? 'WIN'
  const state = { ...initialState(type, inMs(-min)), tries: 9, unknownTries: 9, dueAt: inMs(h), ...change }
  return documentOf({ scope, spec: specOf({ type }), reference: newId('txn'), state })
}

const store = async (documents: readonly ReturnType<typeof waiting>[]) => {
  await Promise.all(documents.map((document) => movements.insert(document)))
}
const dueNow = async (walletKey: string) =>
  (await unfinished.ofWallet(walletKey, now, 2000)).map(({ _id }) => _id).toSorted()
const idsOf = (documents: Readonly<Record<string, ReturnType<typeof waiting>>>) =>
  Object.values(documents)
    .map(({ _id }) => _id)
    .toSorted()

const call = { token: 'call_1', attempt: 10, startedAt: inMs(-s), until: inMs(h) }

t.afterEach(() => unfinished.clear())

t.test('all waiting credits of a wallet that answers again become due', async (t) => {
  const [scope, otherScope] = [newScope(), newScope()]
  const backlog = Array.from({ length: 300 }, () => waiting({}, scope))
  const left = [
    waiting({ type: 'BET' }, scope),
    waiting({ call }, scope),
    waiting({ updatedAt: inMs(1) }, scope),
    waiting({ status: 'SUCCESS', dueAt: null }, scope),
    waiting({}, otherScope),
  ]
  await store([...backlog, ...left])

  t.equal(await unfinished.nextWallet('', now), null, 'nothing is due before')
  t.equal(await unfinished.pullForward(scopeKey(scope), now), backlog.length)
  t.same(await dueNow(scopeKey(scope)), backlog.map(({ _id }) => _id).toSorted())
  t.same(await dueNow(scopeKey(otherScope)), [], "another wallet's stays as it was")
  t.equal(await unfinished.nextWallet('', now), scopeKey(scope))
  t.equal(await unfinished.pullForward(scopeKey(scope), now), 0, 'a second time there is nothing left')
})

t.test(
  'what was tried before a pull forward becomes due, though its entry is known only after it',
  async (t) => {
    const scope = newScope()
    await unfinished.pullForward(scopeKey(scope), now)
    const [before, after] = [waiting({}, scope), waiting({ updatedAt: inMs(1) }, scope)]
    await store([before, after])
    t.same(await dueNow(scopeKey(scope)), [before._id])
  },
)

t.test(
  'a movement that waits longer than its age allows becomes due, and any other keeps its time',
  async (t) => {
    const scope = newScope()
    const aged = (ageMs: number, waitMs: number, change: Partial<MovementState> = {}) =>
      waiting({ createdAt: inMs(-ageMs), updatedAt: inMs(-ageMs), dueAt: inMs(waitMs), ...change }, scope)
    const tooLong = {
      'a credit of ten minutes that waits six hours': aged(10 * min, 6 * h),
      'a rollback of a minute that waits an hour': aged(min, h, { type: 'ROLLBACK' }),
      'a credit of ten minutes that waits eleven': aged(10 * min, 11 * min),
      'a refund of a day that waits seven hours': aged(24 * h, 7 * h, { type: 'REFUND' }),
      'one made under a clock that was a day ahead': aged(-24 * h, 24 * h + 1 * s),
      'a stake tried under a clock that was a day ahead': aged(10 * min, 24 * h, { type: 'BET' }),
      'a call begun under such a clock': aged(min, 24 * h, { call: { ...call, until: inMs(24 * h) } }),
    }
    const right = {
      'a credit of ten minutes that waits ten': aged(10 * min, 10 * min),
      'a credit of two minutes that waits two': aged(2 * min, 2 * min),
      'a credit of ten hours that waits one': aged(10 * h, h),
      'a credit of two days that waits six hours': aged(48 * h, 6 * h),
      'a stake': aged(10 * min, 6 * h, { type: 'BET' }),
      'one whose call is under way': aged(10 * min, 6 * h, { call }),
    }
    await store([...Object.values(tooLong), ...Object.values(right)])
    t.equal(unfinished.endLongWaits(now), Object.keys(tooLong).length)
    t.same(await dueNow(scopeKey(scope)), idsOf(tooLong))
    t.equal(unfinished.endLongWaits(now), 0, 'a second time there is nothing left')
  },
)

t.test('a round that another process has written last is left to it', async (t) => {
  const other = await openTestMoney(t, shardedMovements(db))
  const win = waiting({ dueAt: inMs(-s) })
  await movements.insert(win)
  t.same(await dueNow(win.walletKey), [win._id])
  const read = await other.movements.findById(win._id)
  if (read === null) return t.fail('the other process finds it')
  const later = { ...read, tries: read.tries + 1 }
  t.ok(await other.movements.write(read, { state: later, events: [], attempt: null }))
  t.equal((await movements.findById(win._id))?.tries, later.tries)
  t.same(await dueNow(win.walletKey), [], 'here it is not due any more')
  t.same(
    (await other.unfinished.ofWallet(win.walletKey, now, 10)).map(({ _id }) => _id),
    [win._id],
    'there it is',
  )
})

t.test(
  'what another instance of this process has written is not acted on, and is forgotten with it',
  async (t) => {
    const win = waiting({ dueAt: inMs(-s) })
    await movements.insert(win)
    const own = createUnfinishedMovements({
      journal: { ...money.journal, instance: () => 'ins_another' },
      scaleMs: (ms) => ms,
    })
    own.own([win], 1)
    t.equal(await own.nextWallet('', now), win.walletKey)
    t.same(await own.ofWallet(win.walletKey, now, 10), [])
    own.clear()
    t.equal(await own.nextWallet('', now), null)
  },
)
