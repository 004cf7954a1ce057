import t from 'tap'
import { testCrashes } from './fixtures/test-crashes.ts'

/** One step of each kind of movement; the others are in crashes.long.test.ts. */
await testCrashes(t, [
  ['bet', 'wallet.debit-answered'],
  ['win', 'wallet.credit-answered'],
  ['refund', 'wallet.credit-answered'],
  ['rollback', 'wallet.rollback-answered'],
])
