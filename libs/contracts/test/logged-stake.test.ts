import t from 'tap'
import { type LoggedEvent, readLoggedEvent, standingInEvents } from '../src/logged-stake.ts'

const since = new Date('2026-11-28T10:00:00.000Z')
const stake = { transactionId: 'bet_1', roundId: 'rnd_1', since }
const later = '2026-11-28T10:00:01.000Z'

function event(type: string, data: Partial<LoggedEvent['data']>, created_at = later): LoggedEvent {
  return { type, created_at, data: { round_id: 'rnd_1', ...data } }
}

t.test('what events say of a stake', async (t) => {
  const cases: [said: ReturnType<typeof standingInEvents>, what: string, events: LoggedEvent[]][] = [
    ['silent', 'no event', []],
    ['taken', 'it was taken', [event('transaction.bet', { transaction_id: 'bet_1', type: 'BET' })]],
    ['silent', 'another was taken', [event('transaction.bet', { transaction_id: 'bet_2', type: 'BET' })]],
    ['not-taken', 'it failed', [event('transaction.failed', { transaction_id: 'bet_1', type: 'BET' })]],
    [
      'taken',
      'it was taken and refunded',
      [
        event('transaction.bet', {
          transaction_id: 'ref_1',
          type: 'REFUND',
          reference_transaction_id: 'bet_1',
        }),
      ],
    ],
    [
      'not-taken',
      'it was taken and rolled back',
      [
        event('transaction.bet', { transaction_id: 'bet_1', type: 'BET' }),
        event('transaction.rollback', { transaction_id: 'rbk_1', reference_transaction_id: 'bet_1' }),
      ],
    ],
    ['taken', 'its round began', [event('round.started', {})]],
    ['taken', 'its round ended', [event('round.completed', {})]],
    ['silent', 'another round ended', [event('round.completed', { round_id: 'rnd_2' })]],
    [
      'unknown',
      'it was taken for another round',
      [event('transaction.bet', { transaction_id: 'bet_1', type: 'BET', round_id: 'rnd_2' })],
    ],
    [
      'unknown',
      'its round began with another stake, or with this one',
      [event('round.started', {}), event('transaction.bet', { transaction_id: 'bet_2', type: 'BET' })],
    ],
    [
      'taken',
      'its round ended after it, and began with another stake',
      [
        event('transaction.bet', { transaction_id: 'bet_2', type: 'BET' }),
        event('round.started', {}),
        event('round.completed', {}),
      ],
    ],
    ['silent', 'its round had begun before', [event('round.started', {}, '2026-11-28T09:59:00.000Z')]],
  ]
  for (const [said, what, events] of cases) t.equal(standingInEvents(events, stake), said, what)
})

t.test('an event that speaks of no round is read all the same', async (t) => {
  const session = { type: 'game.session.created', created_at: later, data: { session_id: 'ses_1' } }
  t.match(readLoggedEvent(JSON.stringify(session)), { type: 'game.session.created' })
  t.equal(readLoggedEvent('{"type":1}'), null)
})
