import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { type OddAnswer, oddAnswers, serveOddAnswer } from '@pitboss/testing/odd-answers'
import t, { type Test } from 'tap'
import { createPostWebhook } from '../../src/clients/post-webhook.ts'
import { tlsIdentity } from '../fixtures/tls-identity.ts'

const outbound = { allowLoopback: true }
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
  const { post, close } = createPostWebhook(outbound)
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

t.test('whatever a receiver answers, a success counts, and a failure says why', async (t) => {
  const [patient, hasty] = [createPostWebhook(outbound), createPostWebhook(outbound, 300)]
  t.teardown(() => Promise.all([patient.close(), hasty.close()]))
  const ask = async (one: OddAnswer) => {
    const isDelivered = one.isDelivered ?? typeof one.read === 'string'
    const { post } = one.read === null && !isDelivered ? hasty : patient
    const server = await serveOddAnswer(one, '{}')
    const call = { account: 'op', url: `${server.url}/`, environment: 'TEST', headers, body: '{}' } as const
    for (const answer of [await post(call), await post(call)]) {
      t.equal(answer.ok, isDelivered, `${one.name}: ${answer.error}`)
      if (isDelivered) t.same(answer.oddities, one.oddities ?? [], `${one.name}: what is odd`)
      else t.notMatch(answer.error, /^the request failed$|^HTTP/, `${one.name}: ${answer.error}`)
    }
    server.close()
  }
  await Promise.all(oddAnswers.map(ask))
})
