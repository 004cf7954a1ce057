import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { ask, askRaw } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'

const world = await startWorld(t, { PITBOSS_HEADERS_TIMEOUT_MS: '300', PITBOSS_BODY_TIMEOUT_MS: '300' })
const port = Number(new URL(world.url).port)
const head = `host: x\r\nauthorization: Bearer ${await world.operatorToken()}\r\ncontent-type: application/json\r\n`

await t.test('headers that never end are answered and cut off', async (t) => {
  const answer = await askRaw(port, 'GET /v1/sessions HTTP/1.1\r\nhost: x\r\nx-slow: ')
  t.match(answer, /^HTTP\/1.1 422 /)
  t.match(answer, /"code":"VALIDATION_ERROR".*"path":"request"/)
})

await t.test('a body that never ends is answered', async (t) => {
  const socket = connect(port, '127.0.0.1')
  socket.write(`POST /v1/sessions HTTP/1.1\r\n${head}content-length: 100\r\n\r\n{"player_id":`)
  const [first] = await once(socket, 'data')
  t.match(String(first), /^HTTP\/1.1 422 /)
  t.match(String(first), /"path":"body","message":"took too long to arrive"/)
  socket.destroy()
})

await t.test('a client that says nothing at all is cut off', async (t) => {
  const startedAtMs = performance.now()
  await askRaw(port, '')
  t.ok(performance.now() - startedAtMs < 10_000)
})

await t.test('a header or a body that drips goes on for no longer than one that stands still', async (t) => {
  const beginnings = [
    'GET /v1/sessions HTTP/1.1\r\nhost: x\r\nx-slow: ',
    `POST /v1/sessions HTTP/1.1\r\n${head}content-length: 10000\r\n\r\n`,
  ]
  for (const beginning of beginnings) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(beginning)
    const dripping = setInterval(() => socket.write(' '), 20)
    const [first] = await once(socket, 'data')
    clearInterval(dripping)
    t.match(String(first), /^HTTP\/1.1 422 /)
    socket.destroy()
  }
})

await t.test('a client that goes away in the middle of its body harms nobody', async (t) => {
  for (const path of [
    '/v1/sessions',
    '/v1/reports/reconciliation?from=2026-11-19T00:00:00Z&to=2026-11-20T00:00:00Z',
  ]) {
    for (let times = 0; times < 3; times++) {
      const socket = connect(port, '127.0.0.1')
      const type = path.includes('reports') ? head.replace('json', 'x-ndjson') : head
      socket.write(`POST ${path} HTTP/1.1\r\n${type}content-length: 100\r\n\r\n{"player_id":`)
      await once(socket, 'connect')
      await ask(`${world.url}/healthz`)
      socket.destroy()
      await once(socket, 'close')
    }
  }
  t.equal((await ask(`${world.url}/healthz`)).status, 200)
  const { url } = world
  const reports = `${url}/v1/reports/reconciliation?from=2026-11-19T00:00:00Z&to=2026-11-20T00:00:00Z`
  const token = await world.operatorToken()
  const answer = await ask(reports, {
    method: 'POST',
    token,
    raw: '{}\n',
    headers: { 'content-type': 'text/csv' },
  })
  t.equal(answer.status, 422, 'and takes no place for ever')
})
