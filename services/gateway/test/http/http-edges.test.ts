import { connect } from 'node:net'
import { once } from 'node:events'
import { errorCatalogue, isErrorCode } from '@pitboss/errors/catalogue'
import { ServiceError } from '@pitboss/errors/service-error'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ask, askRaw } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

const world = await startWorld(t)
const { url } = world
const port = Number(new URL(url).port)
const token = await world.operatorToken()
const head = 'host: x\r\n'

const rawRequests: [name: string, text: string, code: string][] = [
  ['no HTTP at all', 'hello\r\n\r\n', 'VALIDATION_ERROR'],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'VALIDATION_ERROR'],
  ['an unknown method', `BREW /healthz HTTP/1.1\r\n${head}\r\n`, 'VALIDATION_ERROR'],
  ['a bad version', `GET /healthz HTTP/9.1\r\n${head}\r\n`, 'VALIDATION_ERROR'],
  ['no host', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 'VALIDATION_ERROR'],
  [
    'headers of 20 KiB',
    `GET /healthz HTTP/1.1\r\n${head}x: ${'y'.repeat(20_000)}\r\n\r\n`,
    'VALIDATION_ERROR',
  ],
  ['a target of 20 KiB', `GET /${'y'.repeat(20_000)} HTTP/1.1\r\n${head}\r\n`, 'VALIDATION_ERROR'],
  ['a space before a colon', `GET /healthz HTTP/1.1\r\n${head}x : y\r\n\r\n`, 'VALIDATION_ERROR'],
  ['a folded header', `GET /healthz HTTP/1.1\r\n${head}x: y\r\n z\r\n\r\n`, 'VALIDATION_ERROR'],
  ['NUL in a header', `GET /healthz HTTP/1.1\r\n${head}x: a\0b\r\n\r\n`, 'VALIDATION_ERROR'],
  [
    'a length and chunks',
    `POST /v1/auth/token HTTP/1.1\r\n${head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'VALIDATION_ERROR',
  ],
  [
    'two lengths',
    `POST /v1/auth/token HTTP/1.1\r\n${head}content-length: 4\r\ncontent-length: 5\r\n\r\nabcde`,
    'VALIDATION_ERROR',
  ],
  [
    'a negative length',
    `POST /v1/auth/token HTTP/1.1\r\n${head}content-length: -1\r\n\r\n`,
    'VALIDATION_ERROR',
  ],
  [
    'a strange transfer encoding',
    `POST /v1/auth/token HTTP/1.1\r\n${head}transfer-encoding: xchunked\r\nconnection: close\r\n\r\n`,
    'VALIDATION_ERROR',
  ],
  [
    'a bad chunk',
    `POST /v1/auth/token HTTP/1.1\r\n${head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
    'VALIDATION_ERROR',
  ],
  [
    'a coding besides the chunks',
    `POST /v1/auth/token HTTP/1.1\r\n${head}transfer-encoding: gzip, chunked\r\nconnection: close\r\n\r\n0\r\n\r\n`,
    'VALIDATION_ERROR',
  ],
  [
    'chunks twice',
    `POST /v1/auth/token HTTP/1.1\r\n${head}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'VALIDATION_ERROR',
  ],
  [
    'chunks before HTTP had them',
    `POST /v1/auth/token HTTP/1.0\r\n${head}connection: close\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'VALIDATION_ERROR',
  ],
  [
    'the same length twice',
    `POST /v1/auth/token HTTP/1.1\r\n${head}content-length: 2\r\ncontent-length: 2\r\n\r\n{}`,
    'VALIDATION_ERROR',
  ],
  [
    'a list of lengths',
    `POST /v1/auth/token HTTP/1.1\r\n${head}content-length: 2, 2\r\n\r\n{}`,
    'VALIDATION_ERROR',
  ],
  [
    'a chunk that ends without a return',
    `POST /v1/auth/token HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\n2\n{}\n0\n\n`,
    'VALIDATION_ERROR',
  ],
  [
    'a body announced with 10 MB',
    `POST /v1/auth/token HTTP/1.1\r\n${head}connection: close\r\ncontent-type: application/json\r\ncontent-length: 10000000\r\n\r\n`,
    'VALIDATION_ERROR',
  ],
  ['lines without returns', 'GET /healthz HTTP/1.1\nhost: x\n\n', 'VALIDATION_ERROR'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'VALIDATION_ERROR'],
  [
    'two hosts',
    'GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n',
    'VALIDATION_ERROR',
  ],
  ['a space in the target', `GET /health z HTTP/1.1\r\n${head}\r\n`, 'VALIDATION_ERROR'],
  ['a tunnel', `CONNECT example.com:443 HTTP/1.1\r\n${head}\r\n`, 'NOT_FOUND'],
  [
    'an absolute target of another host',
    `GET http://other/ HTTP/1.1\r\n${head}connection: close\r\n\r\n`,
    'NOT_FOUND',
  ],
  ['an asterisk', `OPTIONS * HTTP/1.1\r\n${head}connection: close\r\n\r\n`, 'NOT_FOUND'],
  [
    'a strange expectation',
    `GET /healthz HTTP/1.1\r\n${head}expect: cake\r\nconnection: close\r\n\r\n`,
    'VALIDATION_ERROR',
  ],
]

await t.test('a request whose end a proxy may see elsewhere ends its connection', async (t) => {
  const chunks = `transfer-encoding: chunked\r\n\r\n0\r\n\r\n`
  const old = await askRaw(port, `GET /healthz HTTP/1.0\r\n${head}connection: keep-alive\r\n${chunks}`)
  t.match(old, /^HTTP\/1.1 422 /)
  t.match(old.toLowerCase(), /\r\nconnection: close\r\n/)
})

await t.test('what no route can answer gets the envelope of every error', async (t) => {
  for (const [name, text, code] of rawRequests) {
    const answer = await askRaw(port, text)
    const [status = ''] = answer.split('\r\n')
    t.match(status, /^HTTP\/1.1 (422|404) /, `${name}: ${status}`)
    t.match(answer.toLowerCase(), /\r\nx-request-id: req_/, name)
    const envelope: unknown = JSON.parse(
      answer.slice(answer.indexOf('\r\n\r\n') + 4).replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, ''),
    )
    t.match(envelope, { code, retryable: false, request_id: /^req_/, message: String }, name)
  }
})

await t.test('a request gets one answer, whatever becomes of its body', async (t) => {
  const post = `POST /v1/sessions HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\n`
  const socket = connect(port, '127.0.0.1')
  socket.write(post)
  const [first] = await once(socket, 'data')
  t.match(String(first), /^HTTP\/1.1 401 /)
  socket.write('no chunk\r\n')
  let rest = ''
  for await (const chunk of socket) rest += String(chunk)
  t.equal(rest, '', 'the connection ends without another')
  t.equal((await askRaw(port, `${post}no chunk\r\n`)).split('HTTP/1.1').length, 2, 'in one packet too')
})

await t.test("a caller's request id is kept when it has the right form", async (t) => {
  const asked = async (id: string, path = '/v1/nothing') => {
    const answer = await ask(url + path, { headers: { 'x-request-id': id } })
    t.match(answer.json, { request_id: answer.headers.get('x-request-id') })
    return answer.headers.get('x-request-id')
  }
  t.equal(await asked('my-Request_1'), 'my-Request_1')
  t.equal(await asked('a'.repeat(64), '/v1/sessions'), 'a'.repeat(64))
  for (const id of ['a'.repeat(65), 'a b', 'a.b', 'ä', 'a,b'])
    t.match(await asked(id), /^req_[0-9a-hjkmnp-tv-z]{26}$/, id)
})

await t.test('every error of a service passes through as it is', async (t) => {
  for (const code of Object.keys(errorCatalogue)) {
    if (!isErrorCode(code)) throw new Error(code)
    const { status, retryable } = errorCatalogue[code]
    world.answers.set('rounds.v1.session.show', () => {
      throw new ServiceError(code, {
        message: 'why',
        details: [{ path: 'a.b', message: 'c' }],
        resource: { round_id: 'r', transaction_id: 't' },
        retryAfterS: 7,
      })
    })
    const answer = await ask(`${url}/v1/sessions/${ids.session}`, { token })
    const details = [{ path: 'a.b', message: 'c' }]
    const resource = { round_id: 'r', transaction_id: 't' }
    const { request_id } = Object(answer.json)
    t.same(answer.json, { code, message: 'why', retryable, request_id, details, resource })
    t.equal(answer.status, status, code)
    const waits = code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE'
    t.equal(answer.headers.get('retry-after'), waits ? '7' : null)
  }
  world.answers.clear()
})

await t.test('a fault in a service shows nothing of itself', async (t) => {
  world.answers.set('rounds.v1.session.show', () => {
    throw new Error('secret detail at /srv/app.ts:12')
  })
  const answer = await ask(`${url}/v1/sessions/${ids.session}`, { token })
  t.match(answer, { status: 500, code: 'INTERNAL_ERROR' })
  t.notMatch(answer.text, /secret|\.ts|stack/)
  world.answers.clear()
})

await t.test('answers are not stored, sniffed or framed', async (t) => {
  for (const path of ['/v1/sessions', '/healthz', '/v1/public/event-types', '/nothing']) {
    const { headers } = await ask(url + path, { token })
    t.equal(headers.get('x-content-type-options'), 'nosniff', path)
    t.match(headers.get('content-security-policy'), /frame-ancestors 'none'/)
    t.equal(headers.get('x-powered-by'), null)
  }
  t.equal((await ask(`${url}/v1/sessions`, { token })).headers.get('cache-control'), 'no-store')
})

await t.test('requests of a token are logged behind the answer, without their query', async (t) => {
  const named = (id: string) => ({ headers: { 'x-request-id': id } })
  await ask(`${url}/v1/sessions?player_id=secret`, { token, ...named('log-1') })
  await ask(`${url}/v1/rounds?limit=0`, { token, ...named('log-2') })
  const body = { api_key: ids.testKey, api_secret: 'x' }
  await ask(`${url}/v1/auth/token`, { method: 'POST', body, ...named('log-3') })
  await ask(`${url}/v1/dashboard/me`, { token: await world.userToken(), ...named('log-4') })
  const logged = () => world.directory.logRows.filter(({ request_id }) => /^log-/.test(String(request_id)))
  await waitFor(() => logged().length >= 3)
  t.match(logged(), [
    {
      request_id: 'log-1',
      operatorId: ids.operator,
      environment: 'SANDBOX',
      method: 'GET',
      path: /^\/v1\/sessions$/,
      status: 200,
      code: null,
      api_key: ids.testKey,
      client_address: '127.0.0.1',
    },
    { request_id: 'log-2', status: 422, code: 'VALIDATION_ERROR' },
    { request_id: 'log-3', method: 'POST', path: '/v1/auth/token', status: 200 },
  ])
  t.equal(logged().length, 3)
})

await t.test('gateways share a port, and one that stops finishes what it has begun', async (t) => {
  const { gateway } = await world.addGateway()
  const sharing = await world.addGateway({ PORT: String(gateway.port) })
  t.equal(sharing.gateway.port, gateway.port)
  await sharing.gateway.stop()
  const sharedUrl = `http://127.0.0.1:${gateway.port}`
  t.equal((await ask(`${sharedUrl}/healthz`)).status, 200, 'one of two is enough')

  const socket = connect(gateway.port, '127.0.0.1')
  await once(socket, 'connect')
  const body = JSON.stringify({ player_id: 'p', game: 'dice', currency: 'EUR' })
  const headers = `host: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json`
  const length = `content-length: ${body.length}`
  socket.write(`POST /v1/sessions HTTP/1.1\r\n${headers}\r\n${length}\r\n\r\n${body.slice(0, 5)}`)
  await ask(`${sharedUrl}/healthz`)
  const stopped = gateway.stop()
  await waitFor(async () => (await fetch(`${sharedUrl}/healthz`).catch(() => null)) === null)
  socket.write(body.slice(5))
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  t.match(answer, /^HTTP\/1.1 201/)
  t.match(answer, /connection: close/i)
  await stopped
})
