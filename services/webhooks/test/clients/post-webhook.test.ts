import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { listenLocally } from '@pitboss/testing/listen-locally'
import t, { type Test } from 'tap'
import { createPostWebhook } from '../../src/clients/post-webhook.ts'
import { tlsIdentity } from '../fixtures/tls-identity.ts'

const headers = { 'content-type': 'application/json' }

async function listen(t: Test, server: Server, scheme: string): Promise<string> {
  const port = await listenLocally(server)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `${scheme}://localhost:${port}/`
}

function poster(t: Test) {
  const { post, close } = createPostWebhook({ allowLoopback: true })
  t.teardown(close)
  return (url: string) => post({ account: 'op', url, environment: 'TEST', headers, body: '{}' })
}

t.test('an unverifiable certificate: the connection has a time, TLS has none', async (t) => {
  const url = await listen(
    t,
    createHttpsServer(tlsIdentity, (_, response) => response.end()),
    'https',
  )
  const { ok, error, timings } = await poster(t)(url)
  t.match({ ok, error }, { ok: false, error: /^TLS: the certificate is self-signed/ })
  t.match(timings, { dnsMs: Number, connectMs: Number, tlsMs: null, firstByteMs: null, totalMs: Number })
})

t.test(
  'over TLS each phase has its own time, and a kept-alive socket has none for the first ones',
  async (t) => {
    const trusted = getCACertificates('default')
    setDefaultCACertificates([...trusted, tlsIdentity.cert])
    t.teardown(() => setDefaultCACertificates(trusted))
    const url = await listen(
      t,
      createHttpsServer(tlsIdentity, (_, response) => response.end('ok')),
      'https',
    )
    const post = poster(t)
    const first = await post(url)
    t.match(first, { ok: true, httpStatus: 200, excerpt: 'ok' })
    const { dnsMs, connectMs, tlsMs, firstByteMs, totalMs } = first.timings
    const phases = [dnsMs, connectMs, tlsMs, firstByteMs]
    t.ok(
      phases.every((ms) => ms !== null && ms >= 0),
      JSON.stringify(first.timings),
    )
    const sum = phases.reduce<number>((total, ms) => total + (ms ?? 0), 0)
    t.ok(sum <= totalMs + 0.5, `phases of ${sum} ms in ${totalMs} ms`)
    // A socket is free a moment after its answer, so one of two is free.
    await post(url)
    t.match((await post(url)).timings, { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: Number })
  },
)

t.test('without TLS its time is null', async (t) => {
  const url = await listen(
    t,
    createHttpServer((_, response) => response.end()),
    'http',
  )
  t.match((await poster(t)(url)).timings, {
    dnsMs: Number,
    connectMs: Number,
    tlsMs: null,
    firstByteMs: Number,
  })
})

t.test('a success counts from its head on, whatever becomes of its body', async (t) => {
  const endless = createHttpServer((_, response) => response.writeHead(200).write('begun'))
  const answer = await poster(t)(await listen(t, endless, 'http'))
  t.match(answer, { ok: true, httpStatus: 200, error: null, excerpt: 'begun' })
  t.ok(answer.durationMs < 15_000, 'it does not wait for the deadline')
})

t.test('an excerpt is read in the charset that the answer names', async (t) => {
  const type = { 'content-type': 'text/plain; charset=ISO-8859-1' }
  const latin = createHttpServer((_, response) =>
    response.writeHead(500, type).end(Buffer.from('café', 'latin1')),
  )
  t.match(await poster(t)(await listen(t, latin, 'http')), { ok: false, excerpt: 'café' })
  const unknown = { 'content-type': 'text/plain; charset=klingon' }
  const other = createHttpServer((_, response) => response.writeHead(500, unknown).end('café'))
  t.match(await poster(t)(await listen(t, other, 'http')), { ok: false, excerpt: 'café' })
})

t.test('deliveries ask for no encoding, and an excerpt of an encoded answer can be read', async (t) => {
  const asked: unknown[] = []
  const server = createHttpServer((request, response) => {
    asked.push(request.headers['accept-encoding'])
    response.writeHead(500, { 'content-encoding': 'gzip' }).end(gzipSync('out of order'))
  })
  t.match(await poster(t)(await listen(t, server, 'http')), { ok: false, excerpt: 'out of order' })
  t.same(asked, ['identity'])
})

t.test('a receiver may send 100 Continue before its answer', async (t) => {
  const server = createHttpServer((_, response) => {
    response.writeContinue()
    response.writeHead(204).end()
  })
  t.match(await poster(t)(await listen(t, server, 'http')), { ok: true, httpStatus: 204 })
})

t.test('an answer that no client may take is named', async (t) => {
  const ends = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n'
  for (const [answer, said] of [
    [`${ends}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, /^the length of the answer/],
    [`${ends}content-length: 2\r\n\r\nok`, /^the length of the answer/],
    ['HTTP/1.1 099 X\r\ncontent-length: 2\r\n\r\nok', /status that no answer can have/],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n', /status that no answer can have/],
  ] as const) {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', () => socket.write(answer))
    })
    const port = await listenLocally(server)
    const { ok, error } = await poster(t)(`http://localhost:${port}/`)
    t.match({ ok, error }, { ok: false, error: said }, JSON.stringify(answer))
    server.close()
  }
})
