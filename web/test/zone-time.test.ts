import t from 'tap'
import { exactText, instantOf, isZone, localText } from '../dashboard/src/time/zone-time.ts'

const cases = [
  ['UTC', '2026-11-25T21:35:57.262Z', '2026-11-25T21:35:57', '2026-11-25T21:35:57.262Z'],
  ['Pacific/Honolulu', '2026-11-25T09:59:59.000Z', '2026-11-24T23:59:59', '2026-11-24 23:59:59.000 -10:00'],
  ['Asia/Kathmandu', '2026-11-25T21:35:57.262Z', '2026-11-26T03:20:57', '2026-11-26 03:20:57.262 +05:45'],
  ['Pacific/Kiritimati', '2026-12-31T10:00:00.000Z', '2027-01-01T00:00:00', '2027-01-01 00:00:00.000 +14:00'],
  ['Europe/Malta', '2026-03-29T00:59:59.000Z', '2026-03-29T01:59:59', '2026-03-29 01:59:59.000 +01:00'],
  ['Europe/Malta', '2026-03-29T01:00:00.000Z', '2026-03-29T03:00:00', '2026-03-29 03:00:00.000 +02:00'],
  ['Europe/Malta', '2026-10-25T00:30:00.000Z', '2026-10-25T02:30:00', '2026-10-25 02:30:00.000 +02:00'],
] as const

for (const [zone, iso, local, exact] of cases)
  t.test(`${iso} is ${local} in ${zone}, and the other way round`, async (t) => {
    t.equal(localText(iso, zone), local)
    t.equal(exactText(iso, zone), exact)
    t.equal(instantOf(local, zone), `${iso.slice(0, 19)}.000Z`)
  })

t.test(
  'of an hour that comes twice the first is meant, and one that is left out is still a time',
  async (t) => {
    t.equal(instantOf('2026-10-25T02:30:00', 'Europe/Malta'), '2026-10-25T00:30:00.000Z')
    t.equal(localText('2026-10-25T01:30:00.000Z', 'Europe/Malta'), '2026-10-25T02:30:00', 'the second one')
    t.equal(instantOf('2026-03-29T02:30:00', 'Europe/Malta'), '2026-03-29T01:30:00.000Z')
    t.equal(localText('2026-03-29T01:30:00.000Z', 'Europe/Malta'), '2026-03-29T03:30:00')
  },
)

t.test('a round trip through local time loses only the hour that comes twice', async (t) => {
  const hourMs = 3_600_000
  const times = (from: number, to: number, stepMs: number) =>
    Array.from({ length: Math.ceil((to - from) / stepMs) }, (_, step) => from + step * stepMs)
  const instants = [
    ...times(Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1), 6.5 * hourMs),
    // the days around a change of the clocks
    ...times(Date.UTC(2026, 2, 28), Date.UTC(2026, 2, 31), hourMs / 2),
    ...times(Date.UTC(2026, 9, 24), Date.UTC(2026, 9, 27), hourMs / 2),
  ]
  for (const zone of ['Pacific/Honolulu', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'Europe/Malta']) {
    const lost: string[] = []
    for (const ms of instants) {
      const iso = new Date(ms).toISOString()
      if (instantOf(localText(iso, zone), zone) !== iso) lost.push(iso)
    }
    const twice = ['2026-10-25T01:00:00.000Z', '2026-10-25T01:30:00.000Z']
    t.strictSame([...new Set(lost)], zone === 'Europe/Malta' ? twice : [], zone)
  }
})

t.test('a text that is no zone or no time is none', async (t) => {
  t.ok(isZone('Europe/Malta'))
  for (const text of ['', 'Mars/Olympus', '+02:00', '<img>', 'UTC; x']) t.notOk(isZone(text), text)
  for (const text of ['', 'now', '2026-13-01T00:00:00']) t.equal(instantOf(text, 'Europe/Malta'), null, text)
})
