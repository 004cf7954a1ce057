import t from 'tap'
import { newHealth, paused } from '../../src/rules/endpoint-health.ts'
import { asideOf, openNarrowings, waitingMsMax } from '../../src/rules/put-aside.ts'

const recordedAt = new Date('2026-11-28T20:00:00.000Z')
const now = new Date(recordedAt.getTime() + 5)
const health = newHealth(8)
const endpoint = { deletedAt: null, health, events: [] }
const event = { seq: 7, type: 'transaction.bet', recordedAt } as const

t.test('a new delivery is stored as its endpoint wants it, or when it has waited for a second', (t) => {
  t.equal(asideOf(endpoint, event, now), null)
  const later = new Date(recordedAt.getTime() + waitingMsMax)
  t.equal(asideOf(endpoint, event, later), 'PENDING')
  t.equal(asideOf({ ...endpoint, health: paused(health) }, event, later), 'HELD')
  t.equal(asideOf({ ...endpoint, deletedAt: now }, event, later), 'CANCELLED')
  const open = { ...health, breaker: { ...health.breaker, probeAt: later } }
  t.equal(asideOf({ ...endpoint, health: open }, event, now), 'PENDING')
  t.end()
})

t.test(
  'what was recorded before a resume that skips, or before its type was taken off, is cancelled',
  (t) => {
    t.equal(asideOf({ ...endpoint, skippedTo: 7 }, event, now), 'CANCELLED')
    t.equal(asideOf({ ...endpoint, skippedTo: 6 }, event, now), null)
    const narrowings = [{ to: 7, events: ['round.started' as const] }]
    t.equal(asideOf({ ...endpoint, narrowings }, event, now), 'CANCELLED', 'although the type is back by now')
    t.equal(asideOf({ ...endpoint, narrowings: [{ to: 6, events: ['round.started'] }] }, event, now), null)
    t.equal(asideOf({ ...endpoint, narrowings: [{ to: 7, events: ['transaction.bet'] }] }, event, now), null)
    t.strictSame(openNarrowings([{ to: 6 }, { to: 7 }], 6), [{ to: 7 }])
    t.end()
  },
)
