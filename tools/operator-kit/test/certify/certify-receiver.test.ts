import { join } from 'node:path'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { oddAnswers, serveOddAnswer } from '@pitboss/testing/odd-answers'
import t, { type Test } from 'tap'
import { certifyReceiver } from '../../src/certify/certify-receiver.ts'
import { createReceiverApp } from '../../src/demo-receiver/create-receiver-app.ts'
import { createRawApp, rawBody } from '../../src/shared/raw-app.ts'
import { verify } from '../../src/verify-webhook.ts'

const SECRET = 'whsec_certified'

type Mistake = (headers: Record<string, string>, body: string) => Promise<boolean>

async function startReceiver(t: Test, accepts: Mistake): Promise<string> {
  const app = createRawApp()
  app.post('/', async (request, reply) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const accepted = await accepts(headers, rawBody(request.body).toString('utf8'))
    return reply.code(accepted ? 200 : 400).send({})
  })
  t.teardown(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}

async function failedCases(url: string): Promise<string[]> {
  const report = await certifyReceiver({ url, secret: SECRET })
  return report.cases.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)
}

const isVerified = async (headers: Record<string, string>, body: string, options = {}): Promise<boolean> =>
  (await verify(headers, body, SECRET, options)).ok

await t.test('the demo receiver passes every case', async (t) => {
  const dataDir = t.testdir({ 'secrets.json': JSON.stringify({ secrets: [SECRET] }) })
  const app = await createReceiverApp({ dataDir, secretsFile: join(dataDir, 'secrets.json') })
  t.teardown(() => app.close())
  t.same(await failedCases(`${await app.listen({ host: '127.0.0.1', port: 0 })}/webhooks`), [])
  t.ok(receiverCases.length >= 30)
})

await t.test('each seeded mistake fails the case made for it', async (t) => {
  const seen = new Set<string>()
  const mistakes: Array<[string, string[], Mistake]> = [
    ['no signature check', ['signature-missing', 'wrong-secret', 'tampered-body', 'stale'], async () => true],
    [
      'no clock check',
      ['stale', 'future'],
      (headers, body) => isVerified(headers, body, { toleranceS: 1e9 }),
    ],
    [
      'parsed body',
      ['raw-spaces', 'raw-escapes', 'reformatted-body'],
      (headers, body) => isVerified(headers, JSON.stringify(JSON.parse(body))),
    ],
    ['trimmed body', ['raw-newline'], (headers, body) => isVerified(headers, body.trim())],
    [
      'first signature only',
      ['two-signatures-second', 'later-scheme'],
      (headers, body) =>
        isVerified({ ...headers, 'x-svc-signature': headers['x-svc-signature']?.split(' ')[0] ?? '' }, body),
    ],
    [
      'strict fields',
      ['unknown-field'],
      async (headers, body) => (await isVerified(headers, body)) && !body.includes('something_new'),
    ],
    [
      'small bodies',
      ['large-body'],
      async (headers, body) => (await isVerified(headers, body)) && body.length < 16_384,
    ],
    [
      'duplicates refused',
      ['duplicate', 'duplicate-parallel'],
      async (headers, body) => {
        const id = headers['x-svc-event-id'] ?? ''
        const fresh = !seen.has(id)
        seen.add(id)
        return fresh && (await isVerified(headers, body))
      },
    ],
  ]
  for (const [name, cases, mistake] of mistakes) {
    const failed = await failedCases(await startReceiver(t, mistake))
    t.same(
      cases.filter((id) => !failed.includes(id)),
      [],
      `${name}: ${cases.join(', ')}`,
    )
  }
})

await t.test('what is odd about a receiver is named, and a dead one once', async (t) => {
  const asked = async (name: string) => {
    const one = oddAnswers.find((odd) => odd.name === name)
    if (one === undefined) throw new Error(`there is no answer ${name}`)
    const { url, close } = await serveOddAnswer(one, '}')
    const report = await certifyReceiver({ url, secret: SECRET })
    close()
    return { ...report, of: (id: string) => report.cases.find((result) => result.id === id) }
  }
  const [goOn, both, twice, gzip, endless] = await Promise.all([
    asked('100 Continue twice'),
    asked('a length beside chunks'),
    asked('one length twice'),
    asked('gzip'),
    asked('a body that never ends'),
  ])
  t.match(goOn.of('http-interim'), { outcome: 'passed', message: /nobody asked/ })
  t.match(both.of('http-length'), { outcome: 'passed', message: /both Content-Length/ })
  t.match(twice.of('http-length'), { outcome: 'passed', message: /several times/ })
  t.match(gzip.of('http-encoding'), { outcome: 'passed', message: /is encoded/ })
  t.match(endless.of('http-end'), { outcome: 'failed', message: /did not end/, hint: /response\.end\(\)/ })
  t.match(endless.reason, /^The bodies of answers do not end/)
  for (const name of ['no HTTP', 'two lengths', 'a switch of protocols']) {
    const { cases, reason } = await asked(name)
    t.match(cases, [{ id: 'http-answer', outcome: 'failed', hint: /\S/ }], name)
    t.match(reason, /^The receiver does not answer: /, name)
  }
  const { cases, certified, reason } = await certifyReceiver({ url: 'http://127.0.0.1:9', secret: SECRET })
  t.match(
    { certified, reason },
    { certified: false, reason: 'The receiver does not answer: connection refused.' },
  )
  t.match(cases, [{ id: 'http-answer', message: 'connection refused' }])
})
