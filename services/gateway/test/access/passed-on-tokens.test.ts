import { claimsFor, signEdgeToken } from '@pitboss/testing/sign-token'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

/** Whatever looks like a token, anywhere in a text. */
const tokens = /[\w-]{16,}\.[\w-]{16,}\.[\w-]{16,}/g

t.test('whatever is heard on the bus is refused at the edge', async (t) => {
  const world = await startWorld(t)
  const heard = new Set<string>()
  const listener = world.services.nc.subscribe('>')
  t.teardown(() => listener.unsubscribe())
  const listening = (async () => {
    for await (const { data, headers } of listener) {
      const said = [new TextDecoder().decode(data), ...[...(headers ?? [])].flatMap(([, values]) => values)]
      for (const [token] of said.join(' ').matchAll(tokens)) heard.add(token)
    }
  })()

  const edge = (aud: 'operator-api' | 'game-launcher' | 'dashboard', sub: string) =>
    signEdgeToken(world.key, claimsFor(aud, sub, ids.operator))
  const senders = [
    ['/v1/games', await edge('operator-api', ids.testKey)],
    ['/v1/game/session', await edge('game-launcher', ids.session)],
    ['/v1/dashboard/users', await edge('dashboard', ids.user)],
  ] as const
  for (const [path, token] of senders)
    t.equal((await ask(`${world.url}${path}`, { token })).status, 200, `${path} with its token`)
  const tail = new AbortController()
  const headers = { authorization: `Bearer ${senders[2][1]}` }
  const stream = await fetch(`${world.url}/v1/dashboard/stream?kinds=events`, {
    headers,
    signal: tail.signal,
  })
  t.equal(stream.status, 200)
  await waitFor(() => heard.size >= senders.length, { what: 'each call came with a token' })
  tail.abort()
  listener.unsubscribe()
  await listening

  for (const [, token] of senders) t.notOk(heard.has(token), 'no token of the edge is passed on')
  for (const token of heard)
    for (const [path] of senders)
      t.match(await ask(`${world.url}${path}`, { token }), { status: 401, code: 'INVALID_CREDENTIALS' }, path)
})

t.test(
  'a token of an earlier build, which holds none to be passed on, is good until it expires',
  async (t) => {
    const world = await startWorld(t)
    t.equal((await ask(`${world.url}/v1/games`, { token: await world.operatorToken() })).status, 200)
  },
)
