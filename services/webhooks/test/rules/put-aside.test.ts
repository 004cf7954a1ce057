import t from 'tap'
import { newHealth, paused } from '../../src/rules/endpoint-health.ts'
import { asideOf, openNarrowings } from '../../src/rules/subscription.ts'

const now = new Date('2026-11-28T20:00:00.000Z')
const health = newHealth(8)
const endpoint = { deletedAt: null, health, events: [] }
const event = { seq: 7, type: 'transaction.bet' } as const

t.test(
  'a new delivery is stored as its endpoint wants it, and waits in the log while places are taken',
  (t) => {
    t.equal(asideOf(endpoint, event), null)
    t.equal(asideOf({ ...endpoint, health: paused(health) }, event), 'HELD')
    t.equal(asideOf({ ...endpoint, deletedAt: now }, event), 'CANCELLED')
    const open = { ...health, breaker: { ...health.breaker, probeAt: now } }
    t.equal(asideOf({ ...endpoint, health: open }, event), 'PENDING')
    t.end()
  },
)

t.test('what was recorded while its type was taken off is cancelled, and holds up nothing', (t) => {
  const narrowed = { ...endpoint, events: ['round.started' as const] }
  const narrowings = [{ to: 6, events: narrowed.events }]
  t.equal(asideOf({ ...narrowed, narrowings }, event), 'CANCELLED')
  t.equal(asideOf({ ...narrowed, events: ['transaction.bet'], narrowings }, event), null)
  t.end()
})

t.test(
  'what was recorded before a resume that skips, or before its type was taken off, is cancelled',
  (t) => {
    t.equal(asideOf({ ...endpoint, skippedTo: 7 }, event), 'CANCELLED')
    t.equal(asideOf({ ...endpoint, skippedTo: 6 }, event), null)
    const narrowings = [{ to: 7, events: ['round.started' as const] }]
    t.equal(asideOf({ ...endpoint, narrowings }, event), 'CANCELLED', 'although the type is back by now')
    t.equal(asideOf({ ...endpoint, narrowings: [{ to: 6, events: ['round.started'] }] }, event), null)
    t.equal(asideOf({ ...endpoint, narrowings: [{ to: 7, events: ['transaction.bet'] }] }, event), null)
    t.strictSame(openNarrowings([{ to: 6 }, { to: 7 }], 6), [{ to: 7 }])
    t.end()
  },
)
