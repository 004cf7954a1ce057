import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { isIP } from 'node:net'
import { createGuardedAgent } from '../src/guarded-agent.ts'
import { createResolveName } from '../src/resolve-name.ts'

const live = { environment: 'LIVE', allowLoopback: false } as const
const resolveName = createResolveName()
const loopback = { environment: 'TEST', allowLoopback: true } as const

async function startServer(t: Test, answer: RequestListener): Promise<number> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address: AddressInfo | string | null = server.address()
  return address === null || typeof address === 'string' ? 0 : address.port
}

function agentFor(t: Test, options: Partial<Parameters<typeof createGuardedAgent>[0]>) {
  const agent = createGuardedAgent({
    policy: live,
    connectionsMax: 2,
    connectTimeoutMs: 1000,
    resolve: (host) => resolveName(host, 'op'),
    ...options,
  })
  t.teardown(() => agent.destroy())
  return agent
}

const answering = (addresses: string[]) => async () =>
  addresses.map((address) => ({ address, family: isIP(address) }))

await t.test('an IP literal that must not be called never sees a connection', async (t) => {
  let hits = 0
  const port = await startServer(t, (_request, response) => {
    hits += 1
    response.end()
  })
  const agent = agentFor(t, {})
  for (const host of ['127.0.0.1', '2130706433', 'localhost', '[::ffff:127.0.0.1]']) {
    await t.rejects(
      request(`http://${host}:${port}/`, { dispatcher: agent }),
      { code: 'ADDRESS_REFUSED' },
      host,
    )
  }
  t.equal(hits, 0)
})

await t.test('a name whose addresses are mixed is refused as a whole', async (t) => {
  const agent = agentFor(t, { resolve: answering(['8.8.8.8', '127.0.0.1']) })
  await t.rejects(request('http://rebind.example/', { dispatcher: agent }), { code: 'ADDRESS_REFUSED' })
})

await t.test('the socket goes to the address that was checked, by one look-up', async (t) => {
  const port = await startServer(t, (incoming, response) => response.end(incoming.headers.host))
  let lookups = 0
  const agent = agentFor(t, {
    policy: loopback,
    resolve: () => {
      lookups += 1
      return answering([lookups === 1 ? '127.0.0.1' : '10.0.0.1'])()
    },
  })
  const { body } = await request(`http://rebind.example:${port}/`, { dispatcher: agent })
  t.equal(await body.text(), `rebind.example:${port}`)
  t.equal(lookups, 1)
})

await t.test('proxies of the environment are not used and redirects are not followed', async (t) => {
  process.env.HTTP_PROXY = 'http://127.0.0.1:1'
  t.teardown(() => delete process.env.HTTP_PROXY)
  const port = await startServer(t, (_request, response) => {
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  const agent = agentFor(t, { policy: loopback })
  const { statusCode, body } = await request(`http://127.0.0.1:${port}/`, { dispatcher: agent })
  await body.dump()
  t.equal(statusCode, 302)
})
