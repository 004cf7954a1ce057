import http from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { createReconcile } from '../../src/answers/reconcile.ts'
import { ask } from '../fixtures/ask.ts'
import { newCredential, startWorld } from '../fixtures/start-world.ts'

const world = await startWorld(t)
const token = await world.operatorToken()
const path = `${world.url}/v1/reports/reconciliation?from=2026-11-19T05:30%2B05:30&to=2026-11-20t00:00:00z`
const row = (id: string, amount = '1.00') => ({
  transaction_id: id,
  type: 'BET',
  amount,
  currency: 'EUR',
  player_id: 'p',
})

/** The timers that a case moves are those of NATS, too, which then takes its link for lost: it comes back. */
const linked = () =>
  waitFor(() => world.services.connected() && world.gateways.every(({ bus }) => bus.connected()), {
    what: 'the links to NATS to be back',
  })

async function reconcile(raw: string, type = 'application/x-ndjson') {
  const answer = await ask(path, { method: 'POST', token, raw, headers: { 'content-type': type } })
  const lines = answer.status === 200 ? answer.text.trim().split('\n') : []
  return { answer, lines: lines.map((line): unknown => JSON.parse(line)) }
}

await t.test('a ledger is compared line by line, both ways', async (t) => {
  const ledger = [
    JSON.stringify(row('t-1')),
    JSON.stringify(row('t-2', '2.00')),
    'rubbish',
    '',
    JSON.stringify(row('t-1')),
  ]
  const { lines } = await reconcile(`${ledger.join('\n')}\n`)
  t.match(lines, [
    { kind: 'unreadable', line: 3 },
    { kind: 'duplicate', line: 5, transaction_id: 't-1' },
    { kind: 'different', transaction_id: 't-2' },
    { kind: 'missing', ours: { transaction_id: 'ours-1' } },
    { kind: 'missing', ours: { transaction_id: 'ours-2' } },
    { summary: { lines: 4, matched: 1, differences: 5 } },
  ])
})

await t.test('CSV does as well', async (t) => {
  const csv =
    'type,transaction_id,amount,currency,player_id,note\r\nBET,t-1,1.00,EUR,,"a, ""b"""\r\nBET,t-3,3.00,EUR,p,\r\nBET,t-4\r\n'
  const { lines } = await reconcile(csv, 'text/csv; charset=utf-8')
  t.match(lines, [
    { kind: 'unreadable', line: 4 },
    { kind: 'different', transaction_id: 't-3' },
    { ours: { transaction_id: 'ours-1' } },
    { ours: { transaction_id: 'ours-2' } },
    { summary: { lines: 3, matched: 1 } },
  ])
})

await t.test('a large ledger streams through, and an empty one lacks everything', async (t) => {
  const count = 30_000
  const ledger = Array.from({ length: count }, (_, index) => JSON.stringify(row(`t-${index}`))).join('\n')
  const { lines } = await reconcile(ledger)
  t.match(lines.at(-1), { summary: { lines: count, matched: count, differences: 2 } })
  const wrong = ledger.replaceAll('"1.00"', '"9.00"')
  t.equal((await reconcile(wrong)).lines.length, count + 3, 'more findings than are held')
  t.match((await reconcile('')).lines.at(-1), { summary: { lines: 0, differences: 3 } })
})

await t.test(
  'a ledger that is sent slowly is read to its end, however early the answer begins',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
    const request = http.request(path, { method: 'POST', headers })
    const half = 15_000
    const lines = (first: number) =>
      Array.from(
        { length: half },
        (_, index) => `${JSON.stringify(row(`s-${first + index}`, '9.00'))}\n`,
      ).join('')
    request.write(lines(0))
    const response: http.IncomingMessage = await new Promise((resolve, reject) =>
      request.once('response', resolve).once('error', reject),
    )
    let text = ''
    let isLate = false
    for await (const chunk of response) {
      text += String(chunk)
      // All that was sent is judged: nothing but the deadline of an unread body is waited for.
      if (isLate || text.split('\n').length <= half) continue
      isLate = true
      mock.timers.tick(20_000)
      request.end(lines(half))
    }
    t.match(JSON.parse(text.trim().split('\n').at(-1) ?? ''), { summary: { lines: 2 * half } })
  },
)

await t.test('a ledger that stops coming is given up and leaves its place', async (t) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
  const begin = () => {
    const request = http.request(path, { method: 'POST', headers })
    request.write(`${JSON.stringify(row('begun'))}\n`)
    const answered = new Promise<http.IncomingMessage>((resolve, reject) =>
      request.once('response', resolve).once('error', reject),
    )
    return { request, answered }
  }
  mock.timers.enable({ apis: ['setTimeout'] })
  const begun = [begin(), begin(), begin()]
  const [first] = await Promise.race(begun.map(async ({ answered }) => [await answered]))
  t.match(first, { statusCode: 503 }, 'one account has two places')
  let waiting = true
  const answers = Promise.all(begun.map(async ({ answered }) => String((await answered).statusCode)))
  const statuses = answers.finally(() => {
    waiting = false
  })
  while (waiting) {
    mock.timers.tick(30_000)
    await nextTurn()
  }
  t.strictSame((await statuses).toSorted(), ['422', '422', '503'])
  mock.timers.reset()
  for (const { request } of begun) request.destroy()
  await linked()
  t.equal((await reconcile('')).answer.status, 200, 'the places are free again')
})

await t.test('a ledger that drips is given up at the deadline', async (t) => {
  await linked()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const request = http.request(path, { method: 'POST', headers })
  request.write(`${JSON.stringify(row('begun'))}\n`)
  let answer: http.IncomingMessage | null = null
  const answered = new Promise<http.IncomingMessage>((resolve, reject) =>
    request.once('response', resolve).once('error', reject),
  ).then((response) => (answer = response))
  let drips = 0
  while (answer === null) {
    // Each byte comes before the silence would end it.
    request.write('\n')
    drips += 1
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    mock.timers.tick(20_000)
  }
  const response = await answered
  t.equal(response.statusCode, 422)
  t.ok(drips >= 45, `${drips} drips of 20 s`)
  let text = ''
  for await (const chunk of response) text += String(chunk)
  t.match(text, /within 15 min/)
  mock.timers.reset()
  request.destroy()
})

await t.test('a ledger has a bound of bytes, and gives way to an account without a place', async (t) => {
  const bus = {
    call: async () => Object.assign(Object.create(null), { rows: [], next: null }),
  }
  const reconcileOf = createReconcile({ bus }, { deadlineMs: 60_000, bytesMax: 100 })
  const begin = (operatorId: string) => {
    const body = new PassThrough()
    const raw = Object.assign(Object.create(null), {
      headers: {},
      headersDistinct: { 'content-type': ['application/x-ndjson'] },
      iterator: () => body.iterator({ destroyOnReturn: false }),
    })
    const inbound = Object.assign(Object.create(null), {
      raw,
      entry: { idempotent: false, byId: false },
      context: { requestId: 'req_1' },
      query: { from: '2026-11-19T00:00:00Z', to: '2026-11-20T00:00:00Z' },
      identity: { operatorId, mode: 'TEST', actor: { kind: 'credential', api_key: 'k', scopes: [] } },
    })
    return { body, answer: reconcileOf(inbound) }
  }
  const large = begin('op_large')
  large.body.write(Buffer.alloc(101, 'x'))
  await t.rejects(large.answer, { code: 'VALIDATION_ERROR', details: [{ message: /larger than 100 bytes/ }] })
  const [first, second] = [begin('op_a'), begin('op_a')]
  const rest = ['op_b', 'op_c', 'op_d', 'op_e', 'op_f'].map(begin)
  await t.rejects(second.answer, { code: 'SERVICE_UNAVAILABLE', message: /given up/ })
  for (const { body, answer } of [first, ...rest]) {
    body.end('no json\n')
    const reply = await answer
    t.match(reply, { status: 200 }, 'nobody else was given up')
    if (reply.content?.data instanceof Readable) reply.content.data.destroy()
  }
})

await t.test('a body that is no ledger is refused', async (t) => {
  await linked()
  t.match((await reconcile('{}', 'application/json')).answer, { status: 422, paths: ['content-type'] })
  t.match((await reconcile('a,b\n1,2\n', 'text/csv')).answer, { status: 422, paths: ['body'] })
  t.match((await reconcile('x'.repeat(9000))).answer, { status: 422, paths: ['body'] })
  const noWindow = path.split('?')[0] ?? ''
  t.match(await ask(noWindow, { method: 'POST', token, raw: '' }), { status: 422, paths: ['from', 'to'] })
  const apiKey = 'ck_test_reports00000000000000000'
  world.directory.credentials.set(apiKey, newCredential({ scopes: ['reports:read'] }))
  const scoped = await world.operatorToken({}, apiKey)
  const answer = await ask(path, { method: 'POST', token: scoped, raw: '{}' })
  t.match(answer, { status: 403, code: 'INSUFFICIENT_SCOPE', message: /a credential without scopes/ })
})
