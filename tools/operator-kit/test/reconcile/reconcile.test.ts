import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { z } from 'zod'
import { compareEvents } from '../../src/reconcile/compare-events.ts'
import { readLocalEvents } from '../../src/reconcile/local-events.ts'
import { openManifest } from '../../src/reconcile/operator-api.ts'
import {
  createKey,
  manifestOf,
  type RecordedEvent,
  signCompact,
  startEventService,
} from '../fixtures/event-service.ts'
import { openCli } from '../fixtures/run-cli.ts'

const runCli = openCli(t)

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const window = { from: '2026-11-20T10:00:00.000Z', to: '2026-11-20T12:59:59.999Z' }

/** An event of `minute` minutes past ten o'clock with a UUIDv7 of that time in its id. */
function eventAt(minute: number, number: number, type = 'transaction.bet'): RecordedEvent {
  const at = new Date(Date.parse(window.from) + minute * 60_000)
  let rest = (BigInt(at.getTime()) << 80n) | BigInt(number)
  let text = ''
  for (let digit = 0; digit < 26; digit++, rest >>= 5n) text = alphabet.charAt(Number(rest & 31n)) + text
  return { id: `evt_${text}`, type, created_at: at.toISOString() }
}

/** Recorded in an order that is neither that of the ids nor that of creation in its second hour. */
const recorded = [
  eventAt(1, 1),
  eventAt(2, 2),
  eventAt(3, 3),
  eventAt(62, 5),
  eventAt(61, 4),
  eventAt(63, 6),
  eventAt(130, 7),
]
const [first, second, third, fourth, fifth, sixth, seventh] = recorded.map(({ id }) => id)
const jsonLines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')

const reconcile = (url: string, events: string, more: readonly string[] = []) =>
  runCli([
    'reconcile',
    '--api-url',
    url,
    '--key',
    'ck_test_x',
    '--secret',
    's',
    '--from',
    window.from,
    '--to',
    window.to,
    '--events',
    events,
    ...more,
  ])

await t.test('a complete list is proven by the manifest alone where its order can be known', async (t) => {
  const { url, read } = await startEventService(t, recorded)
  const dir = t.testdir({
    'polled.jsonl': jsonLines(recorded),
    'sorted.csv': `id,seen\n${recorded
      .map(({ id }) => `${id},1`)
      .toSorted()
      .join('\n')}\n`,
  })
  t.match(await reconcile(url, join(dir, 'polled.jsonl')), {
    code: 0,
    out: /Complete: 7 recorded, 0 missing, 0 extra/,
  })
  t.strictSame(read, [], 'in recording order no event is read')
  t.match(await reconcile(url, join(dir, 'sorted.csv')), { code: 0 })
  t.strictSame(
    read,
    ['2026-11-20T11:00:00.000Z 2026-11-20T11:59:59.999Z'],
    'one hour was recorded in another order',
  )
})

await t.test(
  'what is missing and what is too much is named, and only the hours that differ are read',
  async (t) => {
    const { url, read } = await startEventService(t, recorded)
    const stranger = eventAt(64, 99)
    const lines = [
      `"${first}"`,
      JSON.stringify({ event_id: third, event_type: 'transaction.bet', verified: true }),
      JSON.stringify({ event_id: second, event_type: 'transaction.bet', verified: true }),
      JSON.stringify({ event_id: second, event_type: 'transaction.bet', verified: true }),
      JSON.stringify({ event_id: sixth, event_type: 'transaction.bet', verified: false }),
      JSON.stringify({ id: eventAt(5, 77).id, type: 'webhook.test' }),
      fourth,
      fifth,
      JSON.stringify(stranger),
      JSON.stringify({ id: seventh, created_at: '2026-11-20T12:10:00Z' }),
    ]
    const dir = t.testdir({ 'events.jsonl': `${lines.join('\n')}\n` })
    const { code, out } = await reconcile(url, dir, ['--json'])
    t.equal(code, 1)
    t.match(JSON.parse(out), {
      ...{ complete: false, recorded: 7, local: 7, missing: 1, extra: 1, lines_without_id: 1 },
      hours: [
        { hour: '2026-11-20T10:00:00.000Z', proven_by: 'manifest', missing: [], extra: [] },
        { hour: '2026-11-20T11:00:00.000Z', proven_by: 'events', missing: [sixth], extra: [stranger.id] },
        { hour: '2026-11-20T12:00:00.000Z', proven_by: 'manifest', missing: [], extra: [] },
      ],
    })
    t.strictSame(read, ['2026-11-20T11:00:00.000Z 2026-11-20T11:59:59.999Z'])
    t.match(await reconcile(url, dir), {
      code: 1,
      out: new RegExp(`missing ${sixth}[^]*extra {3}${stranger.id}[^]*NOT complete`),
    })
  },
)

await t.test('an id of the last millisecond of an hour is found in the hour of its event', async (t) => {
  const late = { ...eventAt(59, 8), created_at: '2026-11-20T11:00:00.000Z' }
  const events = [eventAt(1, 1), late, eventAt(61, 4)]
  const hours = { ...window, hours: manifestOf(events, window.from, window.to).hours }
  const dir = t.testdir({ ids: events.map(({ id }) => id).join('\n') })
  const list = await readLocalEvents(join(dir, 'ids'))
  const compared = await compareEvents(hours, list.events, async (from, to) =>
    events.filter(({ created_at: at }) => at >= from && at <= to).map(({ id }) => id),
  )
  t.match(compared, { complete: true, missing: 0, extra: 0 })
  await t.rejects(
    compareEvents(hours, [], async () => []),
    { message: /do not fit the manifest/ },
  )
})

await t.test('only a manifest signed as one by a known Ed25519 key is believed', (t) => {
  const mine = createKey('k1')
  const other = createKey('k2')
  const header = { alg: 'EdDSA', typ: 'pitboss-manifest+jws', kid: 'k1' }
  const manifest = manifestOf(recorded, window.from, window.to)
  const keySet = { keys: [other.jwk, mine.jwk] }
  const good = signCompact(mine.privateKey, header, manifest)
  t.strictSame(openManifest(good, keySet), manifest)
  const [head, , signature] = good.split('.')
  const lie = Buffer.from(JSON.stringify({ ...manifest, hours: [] })).toString('base64url')
  const refused = [
    `${head}.${lie}.${signature}`,
    signCompact(other.privateKey, header, manifest),
    signCompact(mine.privateKey, { ...header, kid: 'k3' }, manifest),
    signCompact(mine.privateKey, { ...header, typ: 'at+jwt' }, manifest),
    signCompact(mine.privateKey, { ...header, alg: 'none' }, manifest),
    'no signature',
    '',
  ]
  for (const jws of refused) t.throws(() => openManifest(jws, keySet), jws)
  t.end()
})

await t.test('what cannot be found out is exit code 2 with the reason', async (t) => {
  const { url } = await startEventService(t, recorded)
  t.match(await reconcile(url, join(t.testdir({}), 'absent')), { code: 2, err: /ENOENT/ })
  t.match(await reconcile(url, t.testdir({})), { code: 2, err: /no \.jsonl/ })
  const dir = t.testdir({ 'a.jsonl': '' })
  t.match(await reconcile('http://127.0.0.1:9', dir), { code: 2, err: /\/v1\/auth\/token: no answer/ })
  const envelope = {
    code: 'INVALID_CREDENTIALS',
    message: 'No such key.',
    retryable: false,
    request_id: 'req_1',
  }
  const refusing = createServer((_request, response) => response.writeHead(401).end(JSON.stringify(envelope)))
  await once(refusing.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => refusing.close())
  const { port } = z.object({ port: z.int() }).parse(refusing.address())
  t.match(await reconcile(`http://127.0.0.1:${port}`, dir), {
    code: 2,
    err: /\/v1\/auth\/token: 401 INVALID_CREDENTIALS: No such key\./,
  })
  t.match(await reconcile(url, dir, ['--from', 'yesterday']), { code: 2, err: /It must be a time/ })
})
