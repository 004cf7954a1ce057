import { roleSchema } from '@pitboss/contracts/caller'
import { scopeName } from '@pitboss/contracts/objects/account'
import fastify from 'fastify'
import t from 'tap'
import { registerRoutes } from '../../src/routes/register-routes.ts'
import { routeTable } from '../../src/routes/route-table.ts'
import { ask } from '../fixtures/ask.ts'
import { routeRequest } from '../fixtures/route-request.ts'
import { newCredential, startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

const world = await startWorld(t)
const { url } = world
const guarded = routeTable.filter(({ access }) => access !== null)
const tokens = {
  'operator-api': await world.operatorToken(),
  'game-launcher': await world.playerToken(),
  dashboard: await world.userToken(),
} as const

await t.test('every route takes the tokens of its audiences and no others', async (t) => {
  for (const entry of guarded) {
    const { path, options } = routeRequest(entry)
    const name = `${entry.method} ${path}`
    t.match(await ask(url + path, options), { status: 401, code: 'UNAUTHORIZED' }, `${name} without a token`)
    for (const audience of ['operator-api', 'game-launcher', 'dashboard'] as const) {
      const answer = await ask(url + path, { ...options, token: tokens[audience] })
      if (entry.access?.[audience] === undefined) {
        t.match(answer, { status: 403, code: 'INSUFFICIENT_SCOPE' }, `${name} with ${audience}`)
      } else t.ok(entry.shapes.statuses.includes(answer.status), `${name} with ${audience}: ${answer.text}`)
    }
  }
})

await t.test('every scope opens exactly its routes', async (t) => {
  const entries = guarded.filter(({ access }) => access?.['operator-api'] !== undefined)
  for (const scope of scopeName.options) {
    const apiKey = `ck_test_${scope.replace(':', '').padEnd(24, '0').slice(0, 24)}`
    world.directory.credentials.set(apiKey, newCredential({ scopes: [scope] }))
    const token = await world.operatorToken({}, apiKey)
    for (const entry of entries) {
      const { path, options } = routeRequest(entry)
      const wanted = entry.access?.['operator-api'] ?? ''
      const answer = await ask(url + path, { ...options, token })
      const name = `${entry.method} ${path} with ${scope}`
      if (wanted === scope || wanted === scope.replace(':write', ':read')) {
        t.ok(entry.shapes.statuses.includes(answer.status), `${name}: ${answer.text}`)
      } else {
        t.match(answer, { status: 403, code: 'INSUFFICIENT_SCOPE' }, name)
        const named = wanted === 'unrestricted' ? 'a credential without scopes' : wanted
        t.ok(answer.message.includes(named), `${name} names ${named}`)
      }
    }
  }
})

await t.test('every role may do what the contract says and nothing else', async (t) => {
  const outsiders = (role: string) => ['SUPPORT', 'VIEWER'].includes(role)
  const notAdminWrites = (role: string, method: string) =>
    method !== 'GET' && !['OWNER', 'ADMIN'].includes(role)
  const notForPlayers = (role: string, method: string) =>
    method !== 'GET' && ['DEVELOPER', 'VIEWER'].includes(role)
  const refused: Record<string, (role: string, method: string, path: string) => boolean> = {
    me: () => false,
    users: (role, method) => role !== 'OWNER' && !(role === 'ADMIN' && method === 'GET'),
    credentials: outsiders,
    wallets: outsiders,
    webhooks: outsiders,
    'request-logs': outsiders,
    audit: (role) => !['OWNER', 'ADMIN'].includes(role),
    'webhook-deliveries': (role, method) => method !== 'GET' && role === 'VIEWER',
    games: notAdminWrites,
    brands: notAdminWrites,
    business: notAdminWrites,
    reports: () => false,
    returns: () => false,
    sessions: notForPlayers,
    'free-bets': notAdminWrites,
    players: notForPlayers,
    flags: notForPlayers,
    'flag-rules': notAdminWrites,
    rounds: () => false,
    transactions: () => false,
    events: () => false,
    overview: () => false,
    stream: () => false,
    search: () => false,
    // A SUPPORT or VIEWER sees nothing of them, and a DEVELOPER takes back his own alone.
    approvals: (role, method, path) =>
      outsiders(role) || (role === 'DEVELOPER' && method !== 'GET' && path.endsWith('/approve')),
    views: (role, method) => method !== 'GET' && role === 'VIEWER',
  }
  const entries = guarded.filter(({ access }) => access?.dashboard !== undefined)
  for (const [index, role] of roleSchema.options.entries()) {
    const user = `usr_${String(index).padEnd(26, '0')}`
    world.directory.users.set(user, role)
    const token = await world.userToken({}, user)
    for (const entry of entries) {
      const { path, options } = routeRequest(entry)
      const area = entry.path.replace('/v1/dashboard/', '').replace('/v1/', '').split('/')[0] ?? ''
      const answer = await ask(url + path, { ...options, token })
      const name = `${role} ${entry.method} ${path}`
      const isRefused = refused[area]
      if (isRefused === undefined) t.fail(`no rule for ${area}`)
      else if (isRefused(role, entry.method, entry.path))
        t.match(answer, { status: 403, code: 'FORBIDDEN' }, name)
      else t.ok(entry.shapes.statuses.includes(answer.status), `${name}: ${answer.text}`)
    }
  }
})

await t.test(
  'a wrong method or path is NOT_FOUND with and without a token, and OPTIONS always is',
  async (t) => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']
    const paths = new Map(routeTable.map((entry) => [entry.path, routeRequest(entry).path]))
    for (const [pattern, path] of paths) {
      if (pattern.includes('*')) continue
      for (const method of methods) {
        if (routeTable.some((entry) => entry.path === pattern && entry.method === method)) continue
        t.match(await ask(url + path, { method }), { status: 404, code: 'NOT_FOUND' }, `${method} ${path}`)
      }
    }
    const unknown = [
      '/',
      '/v1',
      '/v1/sessions/',
      '/v1//sessions',
      '/v2/sessions',
      '/v1/Sessions',
      '/v1/sessions/%00',
    ]
    const more = [
      '/v1/sessions/%zz',
      '/v1/sessions/a%00b',
      '/v1/sessions//close',
      '/v1/dashboard',
      '/v1/public/',
    ]
    for (const path of [...unknown, ...more, `/v1/sessions/${'x'.repeat(2000)}`]) {
      for (const token of [null, tokens['operator-api'], 'rubbish']) {
        const answer = await ask(url + path, { token })
        t.match(
          answer,
          { status: 404, code: 'NOT_FOUND' },
          `${path.slice(0, 40)} ${token === null ? '' : 'with a token'}`,
        )
        t.ok(answer.headers.get('x-request-id'))
      }
    }
  },
)

await t.test('an id that cannot be answers as one that does not exist', async (t) => {
  const long = 'x'.repeat(300)
  const cases = [
    ['/v1/sessions/', 'SESSION_NOT_FOUND', 'operator-api'],
    ['/v1/rounds/', 'ROUND_NOT_FOUND', 'operator-api'],
    ['/v1/transactions/', 'TRANSACTION_NOT_FOUND', 'operator-api'],
    ['/v1/games/', 'GAME_NOT_FOUND', 'operator-api'],
    ['/v1/events/', 'NOT_FOUND', 'operator-api'],
    ['/v1/free-bets/', 'NOT_FOUND', 'operator-api'],
    ['/v1/dashboard/webhooks/', 'NOT_FOUND', 'dashboard'],
    ['/v1/dashboard/wallets/', 'NOT_FOUND', 'dashboard'],
    ['/v1/game/rounds/', 'ROUND_NOT_FOUND', 'game-launcher'],
  ] as const
  for (const [path, code, audience] of cases) {
    t.match(await ask(`${url}${path}${long}`, { token: tokens[audience] }), { status: 404, code }, path)
  }
})

await t.test('HEAD is GET without a body', async (t) => {
  for (const entry of guarded.filter(({ method }) => method === 'GET').slice(0, 12)) {
    const { path } = routeRequest(entry)
    const token = tokens[entry.access?.['operator-api'] === undefined ? 'dashboard' : 'operator-api']
    const [get, head] = [await ask(url + path, { token }), await ask(url + path, { token, method: 'HEAD' })]
    t.equal(head.status, get.status, path)
    t.equal(head.text, '')
    t.equal(head.headers.get('content-length'), String(Buffer.byteLength(get.text)))
  }
  t.equal((await ask(`${url}/v1/sessions`, { method: 'HEAD' })).status, 401)
})

await t.test('a route that is not in the table cannot be registered', async (t) => {
  const app = fastify()
  registerRoutes(app)
  t.throws(() => app.get('/v1/secret', () => 'oops'), { message: /not in the route table/ })
  t.throws(() => app.post('/v1/games', () => 'oops'), { message: /not in the route table/ })
  const names = routeTable.map(({ method, path }) => `${method} ${path}`)
  t.equal(new Set(names).size, names.length, 'each route is there once')
  await app.close()
})

await t.test('dashboard routes are about TEST unless told, by-id routes about both', async (t) => {
  const token = tokens.dashboard
  const callerOf = async (path: string, options: object = {}) => {
    await ask(url + path, { token, ...options })
    const caller = world.forwarded.at(-1)?.request.caller
    return [caller?.scope.environment, caller?.eitherEnvironment]
  }
  t.same(await callerOf('/v1/dashboard/rounds'), ['SANDBOX', false])
  t.same(await callerOf('/v1/dashboard/rounds?environment=LIVE'), ['LIVE', false])
  t.same(await callerOf(`/v1/dashboard/rounds/${ids.round}`), ['SANDBOX', true])
  t.same(await callerOf(`/v1/dashboard/rounds/${ids.round}?environment=LIVE`), ['LIVE', false])
  t.same(await callerOf('/v1/dashboard/wallets/LIVE'), ['LIVE', false])
  const body = { name: 'n', environment: 'LIVE' }
  t.same(await callerOf('/v1/dashboard/credentials', { method: 'POST', body }), ['LIVE', false])
  const live = await world.operatorToken({ mode: 'LIVE' }, ids.liveKey)
  t.same(await callerOf('/v1/rounds', { token: live }), ['LIVE', false])
})
