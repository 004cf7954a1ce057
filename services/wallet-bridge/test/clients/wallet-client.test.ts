import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { createWalletClient } from '../../src/clients/wallet-client.ts'

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

/** A wallet that answers every call with these parts, one after the other. */
async function rawWallet(parts: readonly (string | Buffer)[]): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    const send = ([part, ...rest]: readonly (string | Buffer)[]): void => {
      if (part !== undefined) socket.write(part, () => setImmediate(() => send(rest)))
    }
    socket.on('data', (request) => {
      if (request.toString('latin1').includes('{}')) send(parts)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://${addressOf(server)}`
}

await t.test('a final answer may follow interim ones, wherever they are cut', async (t) => {
  const goOn = 'HTTP/1.1 100 Continue\r\nx-hint: yes\r\n\r\n'
  const final = 'HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{"status":"OK"}'
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'
  for (const [name, parts] of Object.entries({
    'at once': [goOn + final],
    twice: [goOn, goOn + final],
    'byte by byte': Array.from(goOn + final),
    'beside early hints': [hints, goOn, final],
    none: [final],
  })) {
    const url = await rawWallet(parts)
    for (const which of ['first', 'second']) {
      const { exchange } = await client.call(callOf(url, 'credit', 30_000))
      const read = exchange.kind === 'answer' ? Buffer.from(exchange.body).toString() : exchange
      t.equal(read, '{"status":"OK"}', `${name}, the ${which} call over one connection`)
    }
  }
})

await t.test('a body that looks like an interim answer is a body', async (t) => {
  const body = 'HTTP/1.1 100 Continue\r\n\r\n{"status":"OK"}'
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`
  const { exchange } = await client.call(callOf(await rawWallet([head, body]), 'credit', 30_000))
  t.equal(exchange.kind === 'answer' ? Buffer.from(exchange.body).toString() : exchange, body)
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
