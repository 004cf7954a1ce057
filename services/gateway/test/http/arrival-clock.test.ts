import t from 'tap'
import { createArrivalClock } from '../../src/http/arrival-clock.ts'

t.test('a request that was sent while the process stood still counts as arrived when that began', (t) => {
  let now = 1_000_000
  const clock = createArrivalClock(() => now)
  t.teardown(() => clock.stop())
  const receiveAfter = (ms: number) => {
    now += ms
    return clock.receivedAtMs()
  }
  t.equal(receiveAfter(100), 1_000_100)
  t.equal(receiveAfter(600), 1_000_700, 'a busy process is no paused one')
  t.equal(receiveAfter(9000), 1_000_700, 'paused for 9 s')
  t.equal(receiveAfter(400), 1_000_700, 'the backlog is still read')
  t.equal(receiveAfter(600), 1_010_700, 'and then it is over')
  t.end()
})
