import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { exchange } from '../src/exchange.ts'
import { createGuardedAgent } from '../src/guarded-agent.ts'
import { createResolveName } from '../src/resolve-name.ts'

const loopback = { environment: 'TEST', allowLoopback: true } as const

/** A name server on a socket of its own; null from `answer` is silence. */
async function nameServer(t: Test, answer: (name: string) => { addresses: string[]; ttl: number } | null) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { port, address }) => {
    const name = nameOf(query)
    const isIpv4 = query.readUInt16BE(12 + name.length + 2) === 1
    if (isIpv4) asked.push(name)
    const found = answer(name)
    if (found !== null)
      socket.send(reply(query, name, isIpv4 ? found : { ...found, addresses: [] }), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  t.teardown(() => socket.close())
  return { server: `127.0.0.1:${socket.address().port}`, asked }
}

function nameOf(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; query.readUInt8(at) !== 0; at += query.readUInt8(at) + 1) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query.readUInt8(at)))
  }
  return labels.join('.').toLowerCase()
}

function reply(
  query: Buffer,
  name: string,
  { addresses, ttl }: { addresses: string[]; ttl: number },
): Buffer {
  const question = query.subarray(0, 12 + name.length + 2 + 4)
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt16BE(0, 10)
  const records = addresses.map((address) => {
    const record = Buffer.alloc(16)
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(1, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(ttl, 6)
    record.writeUInt16BE(4, 10)
    Buffer.from(address.split('.').map(Number)).copy(record, 12)
    return record
  })
  return Buffer.concat([head, ...records])
}

async function httpServer(t: Test): Promise<number> {
  const server = createServer((_request, response) => response.end('well'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address: AddressInfo | string | null = server.address()
  return address === null || typeof address === 'string' ? 0 : address.port
}

await t.test('silent names of one account hold up nobody else', async (t) => {
  const { server, asked } = await nameServer(t, (name) =>
    name.startsWith('silent') ? null : { addresses: ['127.0.0.1'], ttl: 60 },
  )
  const port = await httpServer(t)
  const resolveName = createResolveName({ servers: [server] })
  const ended: string[] = []
  const silent = Array.from({ length: 40 }, async (_, index) => {
    const error = await resolveName(`silent-${index}.example`, 'slow').then(
      () => null,
      (reason: unknown) => reason,
    )
    ended.push('silent')
    return error
  })
  const agent = createGuardedAgent({
    policy: loopback,
    connectionsMax: 2,
    connectTimeoutMs: 5000,
    resolve: (host) => resolveName(host, 'well'),
  })
  t.teardown(() => agent.destroy())
  const { body } = await agent.request({ origin: `http://well.example:${port}`, path: '/', method: 'GET' })
  t.equal(await body.text(), 'well')
  ended.push('well')
  t.ok(
    new Set(asked.filter((name) => name.startsWith('silent'))).size <= 8,
    'lookups of an account are bounded',
  )
  const errors = await Promise.all(silent)
  t.equal(ended[0], 'well', 'the healthy one was first')
  t.ok(
    errors.every((error) => error instanceof Error && 'code' in error && error.code === 'EAI_AGAIN'),
    'those that nobody answers say so',
  )
  t.equal((await resolveName('other.example', 'slow')).length, 1, 'and their account goes on')
})

await t.test(
  'answers are kept for seconds, no longer than they say, and apart for each account',
  async (t) => {
    let nowMs = 0
    const { server, asked } = await nameServer(t, (name) => ({
      addresses: ['192.0.2.1', '192.0.2.2'],
      ttl: name.startsWith('short') ? 1 : 3600,
    }))
    const resolveName = createResolveName({ servers: [server], now: () => nowMs })
    const countOf = async (name: string, account = 'op') => {
      t.strictSame(
        (await resolveName(name, account)).map(({ address }) => address),
        ['192.0.2.1', '192.0.2.2'],
      )
      return asked.filter((one) => one === name).length
    }
    t.equal(await countOf('long.example'), 1)
    nowMs = 5000
    t.equal(await countOf('long.example'), 1)
    t.equal(await countOf('long.example', 'other'), 2)
    nowMs = 5001
    t.equal(await countOf('long.example'), 3)
    t.equal(await countOf('short.example'), 1)
    nowMs += 1001
    t.equal(await countOf('short.example'), 2)
    await Promise.all([resolveName('at-once.example', 'op'), resolveName('AT-ONCE.example.', 'op')])
    t.equal(asked.filter((name) => name === 'at-once.example').length, 1)
  },
)

await t.test('a kept answer is checked by the policy of each connection', async (t) => {
  const { server } = await nameServer(t, () => ({ addresses: ['127.0.0.1'], ttl: 60 }))
  const port = await httpServer(t)
  const resolveName = createResolveName({ servers: [server] })
  const agentOf = (policy: { environment: 'TEST' | 'LIVE'; allowLoopback: boolean }) => {
    const agent = createGuardedAgent({
      policy,
      connectionsMax: 1,
      connectTimeoutMs: 5000,
      resolve: (host) => resolveName(host, 'op'),
    })
    t.teardown(() => agent.destroy())
    return agent.request({ origin: `http://inside.example:${port}`, path: '/', method: 'GET' })
  }
  await (await agentOf(loopback)).body.dump()
  await t.rejects(agentOf({ environment: 'LIVE', allowLoopback: false }), { code: 'ADDRESS_REFUSED' })
})

await t.test('the hosts file and localhost need no name server', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hosts-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const hostsFile = join(folder, 'hosts')
  writeFileSync(
    hostsFile,
    '127.0.0.1 localhost\n::1 Wallet.test other # a remark\n10.1.2.3\twallet.test\n# 1.1.1.1 not.this\n',
  )
  const { server, asked } = await nameServer(t, () => null)
  const resolveName = createResolveName({ servers: [server], hostsFile })
  const addressesOf = async (name: string) => (await resolveName(name, 'op')).map(({ address }) => address)
  t.strictSame(await addressesOf('localhost'), ['127.0.0.1'])
  t.strictSame(await addressesOf('wallet.test'), ['10.1.2.3', '::1'])
  t.strictSame(await addressesOf('shop.localhost'), ['127.0.0.1', '::1'])
  t.strictSame(await addressesOf('192.0.2.7'), ['192.0.2.7'])
  t.strictSame(asked, [])
})

await t.test('a name that does not exist says so', async (t) => {
  const { server } = await nameServer(t, () => ({ addresses: [], ttl: 0 }))
  const resolveName = createResolveName({ servers: [server] })
  await t.rejects(resolveName('nobody.example', 'op'), { code: 'ENOTFOUND' })
})

await t.test('a deadline ends the wait for a connection, and nothing is sent afterwards', async (t) => {
  let hits = 0
  const server = createServer((_request, response) => {
    hits += 1
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  const port = address === null || typeof address === 'string' ? 0 : address.port
  const resolved = Promise.withResolvers<void>()
  const agent = createGuardedAgent({
    policy: loopback,
    connectionsMax: 1,
    connectTimeoutMs: 10_000,
    resolve: async () => {
      await resolved.promise
      return [{ address: '127.0.0.1', family: 4 }]
    },
  })
  t.teardown(() => agent.destroy())
  const request = { url: `http://late.example:${port}/`, headers: {}, body: 'late' }
  const opened = new Promise<void>((resolve) => server.once('connection', () => resolve()))
  await t.rejects(exchange(agent, request, { timeoutMs: 1, bytesMax: 1000 }), {
    message: 'there is no time left',
  })
  resolved.resolve()
  await opened
  const { body } = await agent.request({ origin: `http://late.example:${port}`, path: '/', method: 'GET' })
  await body.dump()
  t.equal(hits, 1, 'the next request on that connection is the first that arrives')
})
