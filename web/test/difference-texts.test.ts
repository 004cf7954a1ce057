import type { KeptDifference } from '@pitboss/contracts/objects/reconciliation'
import t from 'tap'
import { differenceWords } from '../dashboard/src/pages/difference-texts.ts'

const of = (difference: Partial<KeptDifference>): KeptDifference => ({
  ...{ kind: 'extra', line: null, message: null, transaction_id: 'bet-1', fields: [], ours: null },
  ...difference,
})

t.test('a difference that an earlier build kept without words is told in words', (t) => {
  t.strictSame(differenceWords(of({})), ['We have no movement with this id.'])
  const status = { field: 'status', ours: 'FAILED', theirs: 'in the ledger' }
  const code = { field: 'wallet_code', ours: 'INSUFFICIENT_FUNDS', theirs: null }
  t.strictSame(differenceWords(of({ fields: [status, code] })), [
    'Our record of this movement is FAILED: the wallet refused it with INSUFFICIENT_FUNDS.',
  ])
  t.strictSame(differenceWords(of({ kind: 'unreadable' })), ['It could not be read.'])
  const amount = { field: 'amount', ours: '1.00', theirs: null }
  t.strictSame(differenceWords(of({ kind: 'different', fields: [amount] })), [
    'amount: ours 1.00, yours none',
  ])
  t.strictSame(differenceWords(of({ message: 'As it was told.' })), ['As it was told.'])
  t.end()
})
