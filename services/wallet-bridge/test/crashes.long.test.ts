import t from 'tap'
import { testCrashes } from './fixtures/test-crashes.ts'

/** The steps of a movement that crashes.test.ts leaves out. */
await testCrashes(t, [
  ['bet', 'wallet.before-intent'],
  ['bet', 'wallet.intent-stored'],
  ['bet', 'wallet.debit-before-call'],
  ['bet', 'wallet.debit-result-stored'],
  ['bet-retried', 'wallet.debit-call-begun'],
  ['bet-retried', 'wallet.debit-answered@2'],
  ['win', 'wallet.credit-before-call'],
  ['win', 'wallet.credit-result-stored'],
  ['win-retried', 'wallet.credit-call-begun'],
  ['win-retried', 'wallet.credit-answered@2'],
  ['refund', 'wallet.reversal-begun'],
  ['refund', 'wallet.credit-result-stored'],
  ['void', 'wallet.rollback-call-begun'],
  ['rollback', 'wallet.reversal-begun'],
  ['rollback', 'wallet.rollback-result-stored'],
  ['void', 'wallet.void-asked'],
  ['void', 'wallet.rollback-answered'],
  ['refused-later', 'wallet.debit-result-stored@2'],
  ['refused-later', 'wallet.rollback-before-call'],
])
