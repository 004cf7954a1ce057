import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
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
