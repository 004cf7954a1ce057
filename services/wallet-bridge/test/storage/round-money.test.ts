import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { append } from '@pitboss/storage/journal/journal'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { documentOf, initialState } from '../../src/records/new-movement.ts'
import { indexes } from '../../src/all-wings.ts'
import { claimOf, moneyStream } from '../../src/storage/round-money.ts'
import { newScope, specOf } from '../fixtures/bridge.ts'
import { openTestMoney } from '../fixtures/test-money.ts'

t.test('duties read no movement whose id was another’s', async (t) => {
  const db = await openTestDatabase(t)
  await ensureIndexes(db, indexes)
  const { journal, readMoney } = await openTestMoney(t, db)
  const state = initialState('WIN', new Date())
  const movement = documentOf({ scope: newScope(), spec: specOf({ type: 'WIN' }), reference: 'txn_1', state })
  const stream = moneyStream(movement)
  const soon = journal.steadyMs() + 10_000
  const begun = await append(journal, stream, 0, { facts: [{ adopted: true }] }, soon)
  if (begun.kind !== 'appended') return t.fail(begun.kind)
  // The id is that of the first entry, which stands.
  const claim = claimOf(movement._id)
  const { w, at } = begun.entry
  await journal.store.insert([{ _id: claim.key, w, s: stream, n: 1, at }], soon)
  const lost = await append(journal, stream, 1, { facts: [{ base: movement }], claims: [claim] }, soon)
  t.equal(lost.kind, 'claimed')
  t.equal((await readMoney(begun.entry)).size, 0)
})
