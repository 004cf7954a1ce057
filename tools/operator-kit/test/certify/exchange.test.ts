import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { type OddAnswer, oddAnswers, serveOddAnswer } from '@pitboss/testing/odd-answers'
import t, { type Test } from 'tap'
import { createExchange } from '../../src/certify/exchange.ts'

const timeoutMs = 10_000
type Exchanged = Awaited<ReturnType<ReturnType<typeof createExchange>['post']>>

function textOf(exchanged: Exchanged): string {
  return exchanged.kind === 'answer' ? new TextDecoder().decode(exchanged.body) : exchanged.error
}

async function serve(t: Test, listener: RequestListener) {
  const server = createServer(listener)
  const port = await listenLocally(server)
  const exchange = createExchange()
  t.teardown(() => {
    exchange.close()
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${port}/wallet/debit?x=1`
  const post = (
    more: { body?: string | Uint8Array; headers?: Record<string, string>; timeoutMs?: number } = {},
  ) => exchange.post({ url, headers: {}, body: '', timeoutMs, ...more })
  return { server, post }
}

t.test('the bytes and headers arrive as they were given, over connections that are kept', async (t) => {
  const seen: { request: IncomingMessage; body: string }[] = []
  const ports = new Set<number | undefined>()
  const { post } = await serve(t, (request, response) => {
    ports.add(request.socket.remotePort)
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      seen.push({ request, body })
      response.writeHead(409, { 'content-type': 'application/json', 'x-y': 'z' }).end('{"status":"é"}')
    })
  })
  const headers = { 'content-type': 'application/json', 'x-signature': 'abc' }
  for (const body of ['{ "a": "é" }\n', Buffer.from('{ "a": "é" }\n'), '']) {
    const answer = await post({ body, headers })
    t.equal(textOf(answer), '{"status":"é"}')
    t.match(answer, {
      kind: 'answer',
      httpStatus: 409,
      headers: { 'content-type': 'application/json', 'x-y': 'z' },
    })
    const { request, body: received = null } = seen.at(-1) ?? {}
    t.equal(received, String(body))
    t.match(request, { method: 'POST', url: '/wallet/debit?x=1' })
    t.match(request?.headers, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
    t.notHas(request?.headers, 'user-agent')
    t.notHas(request?.headers, 'transfer-encoding')
  }
  t.ok(ports.size < seen.length, 'connections are kept')
})

t.test('a redirect is an answer, and nothing follows it', async (t) => {
  let asked = 0
  const { post } = await serve(t, (_request, response) => {
    asked += 1
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  t.match(await post(), { kind: 'answer', httpStatus: 307 })
  t.equal(asked, 1)
})

t.test('what is no whole answer is a failure that says why', async (t) => {
  const endings: [name: string, answer: (response: ServerResponse) => void, error: RegExp][] = [
    ['silence', () => undefined, /^no complete answer within 50 ms$/],
    [
      'silence after the head',
      (response) => response.writeHead(200).write('{'),
      /^no complete answer within 50 ms: HTTP 200 came, and its body did not end$/,
    ],
    ['a connection cut before the head', (response) => response.socket?.destroy(), /\S/],
    [
      'a connection cut in the body',
      (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{')
        setImmediate(() => response.socket?.destroy())
      },
      /\S/,
    ],
    [
      'more than 64 KiB',
      (response) => response.end('x'.repeat(64 * 1024 + 1)),
      /^the answer exceeds 64 KiB$/,
    ],
  ]
  for (const [name, answer, error] of endings) {
    const { post } = await serve(t, (_request, response) => answer(response))
    const limit = name.startsWith('silence') ? { timeoutMs: 50 } : {}
    t.match(await post(limit), { kind: 'failure', error }, name)
  }
  const { post } = await serve(t, (_request, response) => response.end('x'.repeat(64 * 1024)))
  t.match(
    await post({ headers: { 'x-y': 'a\nb' } }),
    { kind: 'failure', error: /\S/ },
    'an impossible header',
  )
  t.match(textOf(await post()), /^x{65536}$/, 'exactly 64 KiB are an answer')
  const other = await serve(t, () => undefined)
  other.server.close()
  await once(other.server, 'close')
  t.match(
    await other.post(),
    { kind: 'failure', error: 'connection refused', remedy: /that the server runs/ },
    'nobody listens',
  )
})

t.test('whatever the other side answers, it is read as the service reads it', async (t) => {
  const exchange = createExchange()
  t.teardown(() => exchange.close())
  const ask = async (one: OddAnswer) => {
    const { url, close } = await serveOddAnswer(one, '{}')
    for (const successBodyMs of [undefined, 1000]) {
      const isUnanswered = one.read === null && (successBodyMs === undefined || one.isDelivered !== true)
      const answer = await exchange.post({
        ...{ url: `${url}/`, headers: {}, body: '{}', timeoutMs: isUnanswered ? 300 : 30_000 },
        ...(successBodyMs === undefined ? {} : { successBodyMs }),
      })
      const isTaken = successBodyMs === undefined ? typeof one.read === 'string' : one.isDelivered
      if (isTaken ?? typeof one.read === 'string') {
        t.equal(answer.kind, 'answer', `${one.name}: ${textOf(answer)}`)
        if (typeof one.read === 'string') t.equal(textOf(answer), one.read, one.name)
        if (answer.kind === 'answer') t.same(answer.oddities, one.oddities ?? [], `${one.name}: what is odd`)
      } else {
        t.match(answer, { kind: 'failure', remedy: /\S/ }, one.name)
        t.notMatch(textOf(answer), /^the request failed$/, one.name)
      }
    }
    close()
  }
  await Promise.all(oddAnswers.map(ask))
})
