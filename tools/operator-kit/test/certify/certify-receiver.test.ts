import { join } from 'node:path'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
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
