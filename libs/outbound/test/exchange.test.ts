import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { listenLocally } from '@pitboss/testing/listen-locally'
import t, { type Test } from 'tap'
import { exchange } from '../src/exchange.ts'
import { createGuardedAgent } from '../src/guarded-agent.ts'

/** A server, and what asks it. @param answer makes each answer */
async function rig(t: Test, answer: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume().once('end', () => answer(response))
  })
  const port = await listenLocally(server)
  const agent = createGuardedAgent({
    policy: { environment: 'TEST', allowLoopback: true },
    ...{ connectionsMax: 1, connectTimeoutMs: 5000 },
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  t.teardown(async () => {
    await agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  const request = { url: `http://wallet.example:${port}/path?query=1`, headers: {}, body: 'body' }
  return {
    server,
    ask: (limits: Partial<Parameters<typeof exchange>[2]>) =>
      exchange(agent, request, { timeoutMs: 10_000, bytesMax: 1000, ...limits }),
  }
}

t.test('a whole answer comes with its head, and its connection serves the next one', async (t) => {
  const { server, ask } = await rig(t, (response) =>
    response.writeHead(201, { 'X-Name': 'value' }).end('text'),
  )
  let connections = 0
  server.on('connection', () => connections++)
  for (let count = 0; count < 3; count++) {
    const { status, headers, body, end } = await ask({})
    t.strictSame([status, headers['x-name'], body.toString(), end], [201, 'value', 'text', 'whole'])
  }
  t.equal(connections, 1)
})

t.test('an answer that goes on after the limit is cut, and its connection ends', async (t) => {
  const { server, ask } = await rig(t, (response) => response.write('x'.repeat(400)))
  const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'))
  const { status, body, end } = await ask({ bytesMax: 400 })
  t.strictSame([status, body.length, end], [200, 400, 'long'])
  await closed
})

t.test('a body that breaks off leaves what came of it', async (t) => {
  const { ask } = await rig(t, (response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('some', () => response.destroy())
  })
  const { body, end, error } = await ask({})
  t.strictSame([body.toString(), end], ['some', 'broken'])
  t.type(error, Error)
})

t.test('a success is waited for shortly after its head, another answer until the deadline', async (t) => {
  const statuses = [200, 500]
  const { ask } = await rig(t, (response) => response.writeHead(statuses.shift() ?? 0).write('some'))
  for (const limits of [{ successBodyMs: 1 }, { successBodyMs: 1, timeoutMs: 200 }]) {
    const { body, end } = await ask(limits)
    t.strictSame([body.toString(), end], ['some', 'late'])
  }
})

t.test('an answer that does not begin in time ends the exchange and its connection', async (t) => {
  const { server, ask } = await rig(t, () => undefined)
  const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'))
  await t.rejects(ask({ timeoutMs: 200 }), { message: 'there is no time left' })
  await closed
})
