import t from 'tap'
import { createFanoutLateness } from '../../src/actions/record-batch.ts'
import { createLateness } from '../../src/rules/lateness.ts'

const start = Date.parse('2026-11-26T08:00:00.000Z')
const at = (ms: number) => new Date(start + ms)
const everyMs = 200

type Moment = {
  nowMs: number
  dueMs: number | null
  healthy?: boolean
  busyShare?: number
  createdMs?: number
}

/** An endpoint that has been seen once with nothing to do. */
function caughtUp() {
  const latenessOf = createLateness()
  const look = ({ nowMs, dueMs, healthy = true, busyShare = 0.5, createdMs = dueMs ?? 0 }: Moment) =>
    latenessOf({
      ...{ healthy, busyShare, now: at(nowMs), firstDueAt: null },
      first: dueMs === null ? null : { dueAt: at(dueMs), createdAt: at(createdMs) },
    }).lateMs
  look({ nowMs: 0, dueMs: null })
  return look
}

t.test('new deliveries that wait for a worker are late from the moment they are due', (t) => {
  const look = caughtUp()
  t.equal(look({ nowMs: 1000, dueMs: 1000 }), 0)
  t.equal(look({ nowMs: 1400, dueMs: 1000 }), 400)
  t.equal(look({ nowMs: 3000, dueMs: 1000 }), 2000)
  t.equal(look({ nowMs: 3200, dueMs: 3100 }), 100)
  t.equal(look({ nowMs: 3400, dueMs: null }), 0)
  t.end()
})

t.test('an endpoint that hangs counts for nothing, and never for a second', (t) => {
  const look = caughtUp()
  for (let nowMs = everyMs; nowMs < 60_000; nowMs += everyMs) {
    const lateMs = look({ nowMs, dueMs: everyMs, busyShare: 1 })
    if (lateMs > 1000) t.fail(`${lateMs} ms late at ${nowMs} ms`)
  }
  t.equal(look({ nowMs: 60_000, dueMs: everyMs, busyShare: 1 }), 0)
  t.end()
})

t.test('an endpoint that is broken or paused counts for nothing, nor does its backlog as it drains', (t) => {
  const look = caughtUp()
  t.equal(look({ nowMs: 60_000, dueMs: 1000, healthy: false }), 0)
  t.equal(look({ nowMs: 60_200, dueMs: 1000 }), 200, 'it takes attempts again, and got none since')
  t.equal(look({ nowMs: 61_000, dueMs: 5000 }), 0, 'its backlog drains')
  t.equal(look({ nowMs: 61_200, dueMs: 60_000, createdMs: 7000 }), 0, 'some of it was made due later')
  t.equal(look({ nowMs: 62_000, dueMs: 61_900 }), 0)
  t.equal(look({ nowMs: 65_000, dueMs: 62_000 }), 2900, 'it grows again')
  t.equal(look({ nowMs: 65_200, dueMs: null }), 0)
  t.equal(look({ nowMs: 66_000, dueMs: 65_500 }), 500)
  t.end()
})

t.test('what a worker finds at its first look counts only as far as it grows', (t) => {
  const latenessOf = createLateness()
  const look = (nowMs: number, dueMs: number) =>
    latenessOf({
      ...{ healthy: true, busyShare: 0.5, now: at(nowMs), firstDueAt: null },
      first: { dueAt: at(dueMs), createdAt: at(dueMs) },
    }).lateMs
  t.equal(look(90_000, 0), 0)
  t.equal(look(92_000, 30_000), 0)
  t.equal(look(94_000, 30_500), 1500)
  t.end()
})

t.test('the recording of events is late by the event in the middle of its batch', (t) => {
  const lateness = createFanoutLateness()
  t.equal(lateness.lateMs(at(0)), 0)
  lateness.began([at(0), at(0), at(900), at(950), at(960)])
  t.equal(lateness.lateMs(at(1000)), 100, 'one that was sent again late counts for nothing')
  t.equal(lateness.lateMs(at(3000)), 2100, 'as long as the batch is not recorded')
  lateness.ended(true)
  t.equal(lateness.lateMs(at(3100)), 2200, 'more of it is to be recorded')
  lateness.ended(false)
  t.equal(lateness.lateMs(at(3200)), 0)
  t.end()
})

t.test('a rewind, and what waited before this process took the consumer, count for nothing', (t) => {
  const lateness = createFanoutLateness()
  lateness.began([at(0)])
  t.equal(lateness.lateMs(at(3_600_000)), 0)
  lateness.ended(true)
  lateness.began([at(1_800_000)])
  t.equal(lateness.lateMs(at(3_601_000)), 0, 'it catches up')
  t.equal(lateness.lateMs(at(3_602_500)), 1500, 'it does not')
  lateness.ended(false)
  t.equal(lateness.lateMs(at(3_603_000)), 0)
  lateness.began([at(1000)])
  lateness.forgive()
  t.equal(lateness.lateMs(at(3_604_000)), 0)
  t.end()
})
