import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenLocally } from '@pitboss/testing/listen-locally'
import t from 'tap'
import { recordCalls } from '../src/network/record-calls.ts'
import { createRandom } from '../src/random.ts'

const refusal = { status: 'INSUFFICIENT_FUNDS' }

async function world(t: { teardown(fn: () => unknown): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'pitboss-calls-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const asked: string[] = []
  const arrivals = new EventTarget()
  const wallet = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      asked.push(`${request.url} ${text}`)
      const isHung = text.includes('hung') && asked.length > 1
      if (text.includes('silent')) response.socket?.resetAndDestroy()
      else if (!isHung) {
        const refuses = text.includes('poor') && asked.length === 1
        response.writeHead(refuses ? 402 : 200, { 'x-kept': 'yes' })
        response.end(JSON.stringify(refuses ? refusal : { status: 'OK' }))
      }
      arrivals.dispatchEvent(new Event('call'))
    })
  })
  const port = await listenLocally(wallet)
  t.teardown(() => wallet.close())
  const path = join(folder, 'calls.jsonl')
  const walletUrl = `http://127.0.0.1:${port}`
  const recorder = await recordCalls({ walletUrl, path, refused: new Map(), random: createRandom(1) })
  t.teardown(() => recorder.close())
  const call = (operation: string, transactionId: string) =>
    fetch(`${recorder.url}/${operation}`, { method: 'POST', body: JSON.stringify({ transactionId }) })
  return { asked, arrivals, recorder, call, path }
}

await t.test('a call goes through as it is and is kept, one whose connection breaks as well', async (t) => {
  const { asked, recorder, call, path } = await world(t)
  const answer = await call('credit', 'win-1')
  t.strictSame(await answer.json(), { status: 'OK' })
  t.equal(answer.headers.get('x-kept'), 'yes')
  t.strictSame(asked, ['/credit {"transactionId":"win-1"}'])
  await t.rejects(call('debit', 'silent-1'), 'the caller sees the reset')
  t.strictSame(
    recorder.calls.map(({ operation, transaction_id }) => `${operation} ${transaction_id}`),
    ['credit win-1', 'debit silent-1'],
  )
  t.equal(readFileSync(path, 'utf8').trim().split('\n').length, 2)
})

await t.test('a doubled call reaches the wallet twice and is kept once', async (t) => {
  const { asked, arrivals, recorder, call } = await world(t)
  recorder.double(1)
  await (await call('credit', 'win-1')).text()
  if (asked.length < 2) await once(arrivals, 'call')
  t.strictSame(asked, Array(2).fill('/credit {"transactionId":"win-1"}'))
  t.equal(recorder.calls.length, 1)
})

await t.test('a copy that the wallet never answers ends with the recorder', async (t) => {
  const { asked, arrivals, recorder, call } = await world(t)
  recorder.double(1)
  await (await call('credit', 'hung-1')).text()
  if (asked.length < 2) await once(arrivals, 'call')
  t.equal(asked.length, 2, 'the copy waits; the end of this file finds it if it stays')
})

await t.test('a refused stake stays refused, without a question to a wallet that forgets', async (t) => {
  const { asked, call } = await world(t)
  const first = await call('debit', 'poor-1')
  t.equal(first.status, 402)
  await first.text()
  const again = await call('debit', 'poor-1')
  t.equal(again.status, 402)
  t.strictSame(await again.json(), refusal)
  t.equal(asked.length, 1)
  t.equal((await call('debit', 'poor-2')).status, 200, 'another is asked for')
})
