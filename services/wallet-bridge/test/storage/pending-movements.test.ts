import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { documentOf, initialState } from '../../src/records/new-movement.ts'
import type { MovementState } from '../../src/rules/movement.ts'
import { createPendingMovements } from '../../src/storage/due-movements.ts'
import { createMovements, movementIndexes } from '../../src/storage/movements.ts'
import { newScope, specOf } from '../fixtures/bridge.ts'
import { shardedMovements } from '../fixtures/sharded-movements.ts'

const db = await openTestDatabase(t)
await ensureIndexes(db, movementIndexes)
const movements = createMovements(shardedMovements(db))
const { collection } = movements
const pending = createPendingMovements(movements, (ms) => ms)

const s = 1000
const min = 60 * s
const h = 60 * min
const now = new Date('2026-11-22T12:00:00.000Z')
const inMs = (ms: number) => new Date(now.getTime() + ms)
const scope = newScope()

function aged(ageMs: number, waitMs: number, change: Partial<MovementState> = {}) {
  const type = change.type ?? 'WIN'
  const state = { ...initialState(type, inMs(-ageMs)), tries: 9, dueAt: inMs(waitMs), ...change }
  return documentOf({ scope, spec: specOf({ type }), reference: newId('txn'), state })
}

t.afterEach(() => db.collection('movements').deleteMany({}))

t.test(
  'a movement that waits longer than its age allows becomes due, and any other keeps its time',
  async (t) => {
    const call = { token: 'call_1', attempt: 10, startedAt: now, until: inMs(6 * h) }
    const tooLong = {
      'a credit of ten minutes that waits six hours': aged(10 * min, 6 * h),
      'a rollback of a minute that waits an hour': aged(min, h, { type: 'ROLLBACK' }),
      'a credit of ten minutes that waits eleven': aged(10 * min, 11 * min),
      'a refund of a day that waits seven hours': aged(24 * h, 7 * h, { type: 'REFUND' }),
      'one made under a clock that was a day ahead': aged(-24 * h, 24 * h + 1 * s),
      'a stake tried under a clock that was a day ahead': aged(10 * min, 24 * h, { type: 'BET' }),
      'a call begun under such a clock': aged(min, 24 * h, { call: { ...call, until: inMs(24 * h) } }),
      'a taken stake whose rollback has no record yet': aged(min, 24 * h, { type: 'BET', status: 'SUCCESS' }),
    }
    const right = {
      'a credit of ten minutes that waits ten': aged(10 * min, 10 * min),
      'a credit of two minutes that waits two': aged(2 * min, 2 * min),
      'a credit of ten hours that waits one': aged(10 * h, h),
      'a credit of two days that waits six hours': aged(48 * h, 6 * h),
      'a credit that is due': aged(10 * min, -1),
      'a stake': aged(10 * min, 6 * h, { type: 'BET' }),
      'one whose call is under way': aged(10 * min, 6 * h, { call }),
      'one that has ended': aged(10 * min, 0, { status: 'SUCCESS', dueAt: null }),
    }
    await collection.insertMany([...Object.values(tooLong), ...Object.values(right)])

    t.equal(await pending.endLongWaits(now), Object.keys(tooLong).length)
    for (const [what, { _id }] of Object.entries(tooLong)) {
      t.same((await movements.findById(_id))?.dueAt, now, what)
    }
    for (const [what, { _id, dueAt }] of Object.entries(right)) {
      t.same((await movements.findById(_id))?.dueAt, dueAt, what)
    }
    t.equal(await pending.endLongWaits(now), 0, 'a second time there is nothing left')
  },
)

t.test('a rollback of a refused stake counts as unresolved after 15 minutes', async (t) => {
  const back = (ageMs: number) => aged(ageMs, 0, { type: 'ROLLBACK', ofRefused: true })
  const hour = aged(2 * h, 0)
  const others = [back(16 * min), aged(6 * min, 0)]
  await collection.insertMany([back(14 * min), back(min)])
  t.match(await pending.figures(now), { all: 2, over5m: 0, over1h: 0 })
  await collection.insertMany([hour, ...others])
  t.match(await pending.figures(now), { all: 5, over5m: 3, over1h: 1, over24h: 0 })
})

t.test('two replicas shorten each of many waits once', async (t) => {
  await collection.insertMany(Array.from({ length: 1203 }, () => aged(10 * min, 6 * h)))
  const ended = await Promise.all([pending.endLongWaits(now), pending.endLongWaits(now)])
  t.equal(ended[0] + ended[1], 1203)
  t.equal(await collection.countDocuments({ dueAt: now }), 1203)
})
