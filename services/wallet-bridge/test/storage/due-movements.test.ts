import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { documentOf, initialState } from '../../src/records/new-movement.ts'
import { walletKeyOf } from '../../src/rules/movement-keys.ts'
import type { MovementState } from '../../src/rules/movement.ts'
import { createDueMovements } from '../../src/storage/due-movements.ts'
import { createMovements, movementIndexes } from '../../src/storage/movements.ts'
import { newScope, specOf } from '../fixtures/bridge.ts'
import { shardedMovements } from '../fixtures/sharded-movements.ts'

const db = await openTestDatabase(t)
await ensureIndexes(db, movementIndexes)
const movements = createMovements(shardedMovements(db))
const due = createDueMovements(movements)

const now = new Date('2026-03-01T12:00:00.000Z')
const before = new Date(now.getTime() - 60_000)
const later = new Date(now.getTime() + 3_600_000)
const scope = newScope()
const otherScope = newScope()

function waiting(change: Partial<MovementState> = {}, of = scope) {
  const type = change.type ?? 'WIN'
  const state = { ...initialState(type, before), tries: 9, unknownTries: 9, dueAt: later, ...change }
  return documentOf({ scope: of, spec: specOf({ type }), reference: newId('txn'), state })
}

const call = { token: 'call_1', attempt: 10, startedAt: before, until: later }

await t.test('all waiting credits of a wallet that answers again become due', async (t) => {
  const backlog = Array.from({ length: 1203 }, () => waiting())
  const left = {
    'a stake': waiting({ type: 'BET' }),
    'one whose call is under way': waiting({ call }),
    'one that was tried since': waiting({ updatedAt: new Date(now.getTime() + 1) }),
    'one that has ended': waiting({ status: 'SUCCESS', dueAt: null }),
    "another wallet's": waiting({}, otherScope),
  }
  await movements.collection.insertMany([...backlog, ...Object.values(left)])

  t.equal(await due.nextWallet('', now), null, 'nothing is due before')
  t.equal(await due.pullForward(walletKeyOf(scope), now), backlog.length)
  t.equal(
    await movements.collection.countDocuments({ walletKey: walletKeyOf(scope), dueAt: now }),
    backlog.length,
  )
  for (const [what, document] of Object.entries(left)) {
    t.same((await movements.findById(document._id))?.dueAt, document.dueAt, `${what} stays as it was`)
  }
  t.equal(await due.nextWallet('', now), walletKeyOf(scope))
  t.equal(await due.pullForward(walletKeyOf(scope), now), 0, 'a second time there is nothing left')
})
