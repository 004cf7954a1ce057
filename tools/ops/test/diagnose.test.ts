import t from 'tap'
import { diagnose, type Facts } from '../src/diagnose.ts'

const now = new Date('2026-11-23T12:00:00Z')
const ago = (ms: number) => new Date(now.getTime() - ms).toISOString()
const day = 86_400_000
const service = (more: object) => ({
  name: 'rounds',
  replicas: 2,
  versions: '1.0.0',
  clock_ahead_ms: 3,
  ...more,
})
const consumer = (more: object) => ({
  ...{ name: 'webhooks-fanout', stream: 'EVENTS', pending: 0, ack_pending: 0, redelivered: 0 },
  ...{ lag_s: 0, paused: false, stalled: false, last_error: null, ...more },
})
const stream = (more: object) => ({
  ...{ name: 'EVENTS', replicas: 3, late: 0, bytes: 5 * 2 ** 20, max: 1000 * 2 ** 20, hours: 720, ...more },
})
const well: Facts = {
  services: [service({})],
  nats: { version: '2.15.1', tls: true, local: false },
  storage: { used: 10 * 2 ** 20, max: 1000 * 2 ** 20 },
  streams: [stream({})],
  topology: [{ what: 'stream EVENTS', change: 'none', differences: [] }],
  consumers: [consumer({})],
  movements: { pending: 2, alarms: { over_5m: 0, over_1h: 0 }, breakers_open: [] },
  deliveries: { oldest_due_at: ago(1000), parked: 0, paused_endpoints: 1 },
  rounds: { unfinished: 4 },
  database: { version: '8.0.0', ping_ms: 2 },
  keys: [{ status: 'CURRENT', created_at: ago(10 * day) }],
}

/** `check: level` of what is not well. */
function complaints(more: Partial<Facts>): string[] {
  return diagnose({ ...well, ...more }, now)
    .filter(({ level }) => level !== 'ok')
    .map(({ check, level }) => `${check}: ${level}`)
}

t.test('an installation that is well has no complaint, and every check says something', (t) => {
  t.strictSame(complaints({}), [])
  for (const { check, finding, remedy } of diagnose(well, now)) {
    t.not(finding, '', check)
    t.equal(remedy, null, check)
  }
  t.end()
})

t.test('each part that is not well is named, with its remedy', (t) => {
  const cases: [string, Partial<Facts>, string[]][] = [
    ['a silent service', { services: [service({ replicas: 0 })] }, ['service rounds: bad']],
    ['one replica', { services: [service({ replicas: 1 })] }, ['service rounds: warn']],
    [
      'half a roll-out',
      { services: [service({ versions: '1.0.0, 1.1.0' })] },
      ['service rounds: version: warn'],
    ],
    ['a wrong clock', { services: [service({ clock_ahead_ms: -9000 })] }, ['service rounds: clock: bad']],
    ['plaintext from afar', { nats: { version: '2', tls: false, local: false } }, ['nats: warn']],
    ['plaintext on this machine', { nats: { version: '2', tls: false, local: true } }, []],
    ['a stream that fills', { streams: [stream({ bytes: 71, max: 100 })] }, ['room in EVENTS: warn']],
    ['a full stream', { streams: [stream({ bytes: 100, max: 100 })] }, ['room in EVENTS: bad']],
    ['a stream without a bound', { streams: [stream({ max: null })] }, ['room in EVENTS: warn']],
    ['a disk that fills', { storage: { used: 71, max: 100 } }, ['nats storage: warn']],
    ['a full disk', { storage: { used: 95, max: 100 } }, ['nats storage: bad']],
    ['no bound', { storage: { used: 95, max: null } }, []],
    ['one copy', { streams: [stream({ replicas: 1 })] }, ['stream EVENTS: warn']],
    ['a server away', { streams: [stream({ late: 1 })] }, ['stream EVENTS: bad']],
    [
      'a field that differs',
      { topology: [{ what: 'stream EVENTS', change: 'updated', differences: ['max_age'] }] },
      ['topology: warn'],
    ],
    [
      'a missing consumer',
      { topology: [{ what: 'consumer webhooks-fanout', change: 'created', differences: [] }] },
      ['topology: bad'],
    ],
    ['a paused consumer', { consumers: [consumer({ paused: true })] }, ['consumer webhooks-fanout: bad']],
    ['a consumer behind', { consumers: [consumer({ lag_s: 61 })] }, ['consumer webhooks-fanout: warn']],
    [
      'an old movement',
      { movements: { pending: 1, alarms: { over_5m: 1, over_1h: 0 }, breakers_open: [] } },
      ['movements: bad'],
    ],
    [
      'a wallet that does not answer',
      { movements: { pending: 0, alarms: { over_5m: 0, over_1h: 0 }, breakers_open: ['a/LIVE'] } },
      ['movements: warn'],
    ],
    [
      'late deliveries',
      { deliveries: { oldest_due_at: ago(700_000), parked: 0, paused_endpoints: 0 } },
      ['deliveries: bad'],
    ],
    [
      'a parked message',
      { deliveries: { oldest_due_at: null, parked: 1, paused_endpoints: 0 } },
      ['deliveries: warn'],
    ],
    ['a slow database', { database: { version: '8', ping_ms: 150 } }, ['database: warn']],
    ['an old key', { keys: [{ status: 'CURRENT', created_at: ago(91 * day) }] }, ['signing keys: warn']],
    ['no key', { keys: [{ status: 'VERIFYING', created_at: ago(day) }] }, ['signing keys: bad']],
  ]
  for (const [what, more, expected] of cases) {
    t.strictSame(complaints(more), expected, what)
    for (const { level, remedy } of diagnose({ ...well, ...more }, now))
      if (level !== 'ok') t.type(remedy, 'string', `${what}: what to do`)
  }
  t.end()
})

t.test('a part that does not answer is bad, never passed over', (t) => {
  const nothing = { storage: null, streams: null, topology: null, consumers: null, movements: null }
  const bad = complaints({ ...nothing, deliveries: null, rounds: null, database: null, keys: null })
  t.strictSame(
    bad.filter((one) => one.endsWith(': bad')),
    bad,
  )
  t.equal(bad.length, 9)
  t.end()
})
