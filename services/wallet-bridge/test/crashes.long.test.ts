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
  ['refund', 'wallet.reversal-asked'],
  ['refund', 'wallet.reversal-inserted'],
  ['refund', 'wallet.credit-answered'],
  ['rollback', 'wallet.rollback-call-begun'],
  ['rollback', 'wallet.original-ended'],
  ['void', 'wallet.void-asked'],
  ['void', 'wallet.rollback-answered'],
  ['refused-later', 'wallet.debit-result-stored@2'],
  ['refused-later', 'wallet.rollback-before-call'],
])
