import t from 'tap'
import { missingEvents, type RoundFacts } from '../src/missing-events.ts'

const roundId = 'rnd_1'
const event = (type: string, data: object = {}) => ({
  id: `evt_${type}`,
  type,
  data: { round_id: roundId, ...data },
})
const movement = (transaction_id: string, type: string, status: string) => ({ transaction_id, type, status })
const missing = (facts: Partial<RoundFacts>) =>
  missingEvents({ roundId, status: 'SETTLED', movements: [], events: [], ...facts }).map(
    ({ service, transaction_id, type }) => [service, transaction_id, type],
  )

t.test('an ended round and its movements need their events', (t) => {
  const movements = [movement('bet-1', 'BET', 'SUCCESS'), movement('win-1', 'WIN', 'SUCCESS')]
  t.strictSame(missing({ movements }), [
    ['rounds', null, 'round.completed'],
    ['wallet-bridge', 'bet-1', 'transaction.bet'],
    ['wallet-bridge', 'win-1', 'transaction.win'],
  ])
  const events = [
    event('round.completed'),
    event('transaction.bet', { transaction_id: 'bet-1' }),
    event('transaction.win', { transaction_id: 'another' }),
  ]
  t.strictSame(missing({ movements, events }), [['wallet-bridge', 'win-1', 'transaction.win']])
  t.end()
})

t.test('what is under way needs none yet', (t) => {
  const movements = [movement('bet-1', 'BET', 'PENDING')]
  for (const status of ['PENDING', 'OPEN', 'SETTLING']) t.strictSame(missing({ status, movements }), [])
  t.end()
})

t.test('a refusal is told as failed, a stake that went back by itself or by its return', (t) => {
  const failed = [movement('bet-1', 'BET', 'FAILED')]
  t.strictSame(missing({ status: 'REFUSED', movements: failed }), [
    ['wallet-bridge', 'bet-1', 'transaction.failed'],
  ])
  const back = [movement('bet-1', 'BET', 'ROLLED_BACK'), movement('rbk-1', 'ROLLBACK', 'SUCCESS')]
  const returned = event('transaction.rollback', {
    transaction_id: 'rbk-1',
    reference_transaction_id: 'bet-1',
  })
  t.strictSame(missing({ status: 'OPEN', movements: back, events: [returned] }), [])
  t.strictSame(missing({ status: 'OPEN', movements: back, events: [] }), [
    ['wallet-bridge', 'bet-1', 'transaction.bet'],
    ['wallet-bridge', 'rbk-1', 'transaction.rollback'],
  ])
  t.end()
})
