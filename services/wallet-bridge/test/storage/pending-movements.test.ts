import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { documentOf, initialState } from '../../src/records/new-movement.ts'
import type { MovementState } from '../../src/rules/movement.ts'
import { createListedMovements, movementIndexes } from '../../src/storage/listed-movements.ts'
import { createMovementLists } from '../../src/storage/movement-lists.ts'
import { newScope, specOf } from '../fixtures/bridge.ts'
import { shardedMovements } from '../fixtures/sharded-movements.ts'

const db = await openTestDatabase(t)
await ensureIndexes(db, movementIndexes)
const listed = createListedMovements(shardedMovements(db))
const lists = createMovementLists(listed)

const min = 60_000
const h = 60 * min
const now = new Date('2026-11-22T12:00:00.000Z')

/** An unfinished movement as lists show it. */
function open(ageMs: number, change: Partial<MovementState> = {}, scope = newScope()) {
  const type = change.type ?? 'WIN'
  const state = { ...initialState(type, new Date(now.getTime() - ageMs)), ...change }
  const document = documentOf({ scope, spec: specOf({ type }), reference: newId('txn'), state })
  return { ...document, n: 1, open: true, o: 'ins_1' } as const
}

t.afterEach(() => db.collection('movements').deleteMany({}))

t.test('a rollback of a refused stake counts as unresolved after 15 minutes', async (t) => {
  const back = (ageMs: number) => open(ageMs, { type: 'ROLLBACK', ofRefused: true })
  await listed.write([back(14 * min), back(min)])
  t.match(await lists.figures(now), { all: 2, over5m: 0, over1h: 0 })
  await listed.write([open(2 * h), back(16 * min), open(6 * min)])
  t.match(await lists.figures(now), { all: 5, over5m: 3, over1h: 1, over24h: 0 })
})

t.test('a taken stake that is to be given back is unresolved', async (t) => {
  const scope = newScope()
  const back = { transactionId: 'ref_1', reference: newId('txn'), requestHash: '', roundClosed: true }
  const reversal = { ...back, type: 'REFUND', origin: 'caller', askedAt: now, placed: false } as const
  await listed.write([open(min, {}, scope), open(min, { type: 'BET', status: 'SUCCESS', reversal }, scope)])
  await listed.write([open(min)])
  t.equal(await lists.unresolved(scope), 2)
})

t.test('unfinished movements are found whose last writer is gone', async (t) => {
  const [left, owned] = [open(min), { ...open(min), o: 'ins_2' }]
  await listed.write([left, owned])
  t.match(await listed.unowned(10, ['ins_2']), [{ _id: left._id }])
  t.same(await listed.unowned(10, ['ins_1', 'ins_2']), [])
})
