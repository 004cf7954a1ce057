import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenLocally } from '@pitboss/testing/listen-locally'
import t from 'tap'
import { createShareSecrets } from '../src/faults/share-secrets.ts'
import type { Answer } from '../src/send.ts'

const owner = { environment: 'LIVE' as const, personToken: 'token', walletUrl: 'http://wallet' }

/** A product whose rotations with these numbers are answered to nobody, and done after the next one. */
function sleepyProduct(...lost: number[]) {
  let asked = 0
  let made = 0
  const known = { product: 'first', wallet: 'first' }
  const asleep: (() => void)[] = []
  const rotate = () => {
    known.product = `secret ${++made}`
    return known.product
  }
  const ask = async (method: string, _url: string, { body }: { body?: unknown } = {}): Promise<Answer> => {
    if (method === 'PUT') {
      known.wallet = (body as { secret: string }).secret
      for (const late of asleep.splice(0)) late()
      return { status: 204, body: {} }
    }
    asked += 1
    if (!lost.includes(asked)) return { status: 200, body: { secret: rotate() } }
    asleep.push(() => void rotate())
    return { status: 0, body: {} }
  }
  return { known, ask }
}

t.test(
  'a rotation that is done after the next one was answered leaves both sides with one secret',
  async (t) => {
    const { known, ask } = sleepyProduct(1)
    const secrets = createShareSecrets('http://product', ask)
    await secrets.rotate(owner)
    t.not(known.product, known.wallet, 'the late one is in force')
    await secrets.settle()
    t.equal(known.product, known.wallet)
  },
)

t.test('so does one that is lost while they settle', async (t) => {
  const { known, ask } = sleepyProduct(1, 3)
  const secrets = createShareSecrets('http://product', ask)
  await secrets.rotate(owner)
  await secrets.settle()
  t.equal(known.product, known.wallet)
})

t.test('an answer that says to come again does not say that nothing was done', async (t) => {
  const { known, ask } = sleepyProduct(1)
  const answerTo = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks = await request.toArray()
    const body = chunks.length === 0 ? undefined : JSON.parse(String(Buffer.concat(chunks)))
    const answer = await ask(request.method ?? '', request.url ?? '', { body })
    response.writeHead(answer.status || 503, { 'retry-after': '0' })
    response.end(JSON.stringify(answer.body))
  }
  const server = createServer((request, response) => void answerTo(request, response))
  const url = `http://127.0.0.1:${await listenLocally(server)}`
  t.teardown(() => server.close())
  const secrets = createShareSecrets(url)
  await secrets.rotate({ ...owner, walletUrl: url })
  t.not(known.product, known.wallet, 'the late one is in force')
  await secrets.settle()
  t.equal(known.product, known.wallet)
})
