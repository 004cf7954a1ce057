import t from 'tap'
import { type Floor, mayBeRecorded, noteRecent, type RecentEvents } from '../../src/storage/log-append.ts'

const minuteMs = 60_000
const nowMs = Date.UTC(2026, 10, 29, 12)
const event = (id: string, openedAtMs: number | null, createdAtMs = nowMs) => ({
  ...{ id, openedAtMs, createdAt: new Date(createdAtMs) },
})

t.test('an event is searched for unless its round was opened after all that was recorded', (t) => {
  const recent: RecentEvents = new Map()
  const floor: Floor = { highMs: nowMs - minuteMs }
  const isSearched = (one: ReturnType<typeof event>) => mayBeRecorded(recent, one, floor)
  t.notOk(isSearched(event('new', nowMs)))
  t.ok(isSearched(event('old', nowMs - 2 * minuteMs)), 'a round that is older')
  t.ok(isSearched(event('about as old', nowMs - minuteMs + 5000)), 'clocks differ')
  t.ok(isSearched(event('random', null)), 'an id that does not follow from the fact')
  t.ok(isSearched(event('of the future', nowMs + minuteMs)), 'an id that nobody here can have made')
  noteRecent(recent, 'new', floor, nowMs)
  t.ok(isSearched(event('new', nowMs)), 'it was recorded here')
  t.end()
})

t.test('what is forgotten raises the time up to which events are searched for', (t) => {
  const recent: RecentEvents = new Map()
  const [floor, other]: Floor[] = [{ highMs: 0 }, { highMs: 0 }]
  if (floor === undefined || other === undefined) throw new Error('there are two')
  noteRecent(recent, 'first', floor, nowMs)
  for (let count = 0; count < 40_000; count++) {
    noteRecent(recent, `later ${count}`, other, nowMs + count)
  }
  t.ok(recent.size <= 32_768)
  t.equal(floor.highMs, nowMs)
  t.equal(other.highMs, nowMs + 40_000 - recent.size - 1)
  t.ok(mayBeRecorded(recent, event('first', nowMs), floor), 'it is forgotten, and searched for')
  t.end()
})
