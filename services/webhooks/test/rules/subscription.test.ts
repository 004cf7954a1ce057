import t from 'tap'
import { isUnsubscribed, narrows, pruneOwedAt } from '../../src/rules/subscription.ts'

t.test('a list narrows when a type that it had is not in it any more', async (t) => {
  t.ok(narrows([], ['round.started']))
  t.ok(narrows(['round.started', 'transaction.bet'], ['round.started']))
  t.notOk(narrows(['round.started'], []), 'an empty list is all of them')
  t.notOk(narrows(['round.started'], ['transaction.bet', 'round.started']))
  t.notOk(narrows([], []))
})

t.test('tests, retries by people and later replays go out whatever the list says', async (t) => {
  const narrowed = { at: new Date(1000), replayId: 'rpl_b' }
  const endpoint = { events: ['round.started'] as const, narrowed }
  const delivery = { eventType: 'transaction.bet', lane: 'retry', replayId: null } as const
  t.ok(isUnsubscribed(endpoint, delivery))
  t.ok(isUnsubscribed(endpoint, { ...delivery, lane: 'replay', replayId: 'rpl_a' }), 'a job begun before')
  t.notOk(isUnsubscribed(endpoint, { ...delivery, lane: 'replay', replayId: 'rpl_c' }))
  t.notOk(isUnsubscribed(endpoint, { ...delivery, lane: 'manual' }))
  t.notOk(isUnsubscribed(endpoint, { ...delivery, eventType: 'round.started' }))
  t.notOk(isUnsubscribed(endpoint, { ...delivery, eventType: 'webhook.test' }))
  t.notOk(isUnsubscribed({ events: [] }, delivery))
})

t.test('pruning is owed once for each narrowing', async (t) => {
  const at = new Date(1000)
  const narrowed = { at, replayId: 'rpl_a' }
  t.equal(pruneOwedAt({ events: [] }), null)
  t.equal(pruneOwedAt({ events: [], narrowed }), at)
  t.equal(pruneOwedAt({ events: [], narrowed, prunedAt: new Date(999) }), at)
  t.equal(pruneOwedAt({ events: [], narrowed, prunedAt: at }), null)
})
