import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { type OddAnswer, oddAnswers, serveOddAnswer } from '@pitboss/testing/odd-answers'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { createWalletClient } from '../../src/clients/wallet-client.ts'
import type { WalletExchange } from '../../src/rules/wallet-answers.ts'

const client = createWalletClient({ outbound: { allowLoopback: true }, clock: { now: () => new Date() } })
t.teardown(() => client.close())

const callOf = (url: string, operation: 'debit' | 'credit', timeoutMs: number) => ({
  wallet: {
    key: url,
    environment: 'SANDBOX' as const,
    url,
    timeoutMs,
    settleLosses: 'none' as const,
    secret: 'secret',
    formerOrigins: [],
    bigWins: [],
  },
  ...{ operation, body: '{}', requestId: 'req_1', timeoutMs },
})
const addressOf = (server: { address(): AddressInfo | string | null }) => {
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

await t.test("a wallet's time holds while the connection is being made", async (t) => {
  const sockets: Socket[] = []
  const silent = createTcpServer((socket) => sockets.push(socket.on('error', () => undefined)))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const { exchange } = await client.call(callOf(`https://${addressOf(silent)}`, 'debit', 300))
  t.same(exchange, { kind: 'timeout' })
  t.equal(sockets[0]?.readyState, 'open', 'it did not wait until connecting was given up')
})

await t.test('a credit finds a socket while stakes that get no answer hold all of theirs', async (t) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (request.url === '/credit') response.end('{"status":"OK"}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://${addressOf(server)}`
  for (let stake = 0; stake < 100; stake++) void client.call(callOf(url, 'debit', 60_000))
  await waitFor(() => asked.length >= 48, { what: 'stakes take their sockets' })
  const { exchange } = await client.call(callOf(url, 'credit', 10_000))
  t.match(exchange, { kind: 'answer', httpStatus: 200 })
  t.equal(asked.filter((path) => path === '/debit').length, 48)
  server.closeAllConnections()
})

await t.test('whatever a wallet answers, the client has it, or says why not', async (t) => {
  const ask = async (one: OddAnswer) => {
    const { url, close } = await serveOddAnswer(one, '{}')
    for (const which of ['first', 'second']) {
      const { exchange } = await client.call(callOf(url, 'credit', one.read === null ? 300 : 30_000))
      t.match(readingOf(exchange), one.read ?? 'timeout', `${one.name}, the ${which} call`)
      if (exchange.kind !== 'answer' || typeof one.read !== 'string') continue
      t.same(exchange.oddities, one.oddities ?? [], `${one.name}: what is odd`)
    }
    close()
  }
  await Promise.all(oddAnswers.map(ask))
})

function readingOf(exchange: WalletExchange) {
  if (exchange.kind === 'timeout') return 'timeout'
  if (exchange.kind === 'no-answer') return { fails: exchange.reason }
  if (exchange.cutOff) return { fails: 'more than 64 KiB' }
  return new TextDecoder().decode(exchange.body)
}

await t.test('an answer whose body did not end is told from silence', async (t) => {
  const endless = createServer((_, response) => response.writeHead(200).write('{'))
  const port = await listenLocally(endless)
  const { exchange } = await client.call(callOf(`http://127.0.0.1:${port}`, 'credit', 300))
  t.same(exchange, { kind: 'timeout', begunWith: 200 })
  endless.closeAllConnections()
  endless.close()
})

await t.test('calls ask for no encoding, and an encoded answer is read within the same bounds', async (t) => {
  const asked: unknown[] = []
  let answer: { encoding: string; body: Buffer } = { encoding: 'gzip', body: Buffer.alloc(0) }
  const server = createServer((request, response) => {
    asked.push(request.headers['accept-encoding'])
    response.writeHead(200, { 'content-encoding': answer.encoding }).end(answer.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const call = async (encoding: string, body: Buffer) => {
    answer = { encoding, body }
    const { exchange } = await client.call(callOf(`http://${addressOf(server)}`, 'debit', 30_000))
    if (exchange.kind !== 'answer') return exchange
    return { text: Buffer.from(exchange.body).toString(), cutOff: exchange.cutOff }
  }
  const ok = { text: '{"status":"OK"}', cutOff: false }
  t.same(await call('gzip', gzipSync('{"status":"OK"}')), ok)
  t.match(await call('gzip', gzipSync('x'.repeat(70_000))), { cutOff: true })
  t.match(await call('gzip', Buffer.from('{"status":"OK"}')), ok, 'it says so and is not')
  t.same(new Set(asked), new Set(['identity']))
})
