import t from 'tap'
import { commonPauseMs, startPoll, startRestingPoll } from '../src/poll.ts'

const silent = { error: () => undefined, warn: () => undefined }
const hourMs = 3_600_000

t.test('work runs at once, when it is woken, and as soon as it wishes', async (t) => {
  const runs = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let count = 0
  const poll = startPoll({
    event: 'test.failed',
    everyMs: hourMs,
    logger: silent,
    async work() {
      runs[count]?.resolve()
      count += 1
      return count === 2 ? 0 : undefined
    },
  })
  await runs[0]?.promise
  poll.wake()
  await runs[2]?.promise
  t.equal(count, 3)
  await poll.stop()
  poll.wake()
  t.equal(count, 3, 'and never after it was stopped')
})

t.test('a failure is logged and ends nothing; stop waits for the run under way', async (t) => {
  const logged: unknown[] = []
  const second = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  let count = 0
  let ended = false
  const poll = startPoll({
    event: 'test.failed',
    everyMs: 0,
    level: 'warn',
    logger: { ...silent, warn: (...entry: unknown[]) => void logged.push(entry) },
    async work(stopping) {
      count += 1
      if (count === 1) throw new Error('once')
      second.resolve()
      await finish.promise
      ended = stopping.aborted
    },
  })
  await second.promise
  const stopped = poll.stop()
  finish.resolve()
  await stopped
  t.equal(ended, true, 'the work was told')
  t.match(logged, [[{ err: { message: 'once' } }, 'test.failed']])
})

t.test('a poll without work rests until it is woken, and runs a pause after that', async (t) => {
  const pauseMs = 20
  let [waiting, runs] = [0, 0]
  let ran = Promise.withResolvers<number>()
  const poll = startRestingPoll({
    event: 'test.failed',
    everyMs: pauseMs,
    restMs: hourMs,
    hasWork: () => waiting > 0,
    logger: silent,
    async work() {
      runs += 1
      waiting = 0
      ran.resolve(performance.now())
    },
  })
  await ran.promise
  await new Promise(setImmediate)
  for (const expected of [2, 3]) {
    ran = Promise.withResolvers()
    waiting = 1
    const wokenAtMs = performance.now()
    poll.wake()
    // What comes together is done by one run.
    poll.wake()
    // Timers fire up to a millisecond early.
    t.ok((await ran.promise) - wokenAtMs >= pauseMs - 1, 'a pause after it was woken')
    await new Promise(setImmediate)
    t.equal(runs, expected)
  }
  await poll.stop()
})

t.test('polls of one process meet at the same instants, whenever each of them began', (t) => {
  t.same(
    [500, 1000, 5000].map((everyMs) => 5003 + commonPauseMs(everyMs, 5003)),
    [5500, 6000, 10_000],
  )
  t.same(
    [1400, 1600].map((nowMs) => nowMs + commonPauseMs(1000, nowMs)),
    [2000, 3000],
  )
  t.equal(commonPauseMs(1000, 1999.5), 1000.5, 'a timer that is early runs nothing twice')
  t.equal(commonPauseMs(250, 5003), 250, 'short pauses stay as they are')
  t.end()
})
