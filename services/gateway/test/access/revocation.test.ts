import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { claimsFor, newTestKey, signToken } from '@pitboss/testing/sign-token'
import { newCredential, startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

const world = await startWorld(t)
const { directory, bucket } = world
const path = '/v1/sessions'

await t.test(
  'a change reaches both gateways within 2 s and is never undone by a load that began before it',
  async (t) => {
    const other = await world.addGateway()
    const token = await world.operatorToken()
    const codes = async () =>
      Promise.all([world.url, other.url].map(async (url) => (await ask(url + path, { token })).code))
    t.same(await codes(), [null, null])

    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    directory.beforeResolve = () => gate
    await bucket.put(`credential.${ids.testKey}`, {})
    const loads = directory.loads
    await waitFor(() => {
      void ask(world.url + path, { token })
      return directory.loads > loads
    })
    const credential = newCredential({ active: false })
    directory.credentials.set(ids.testKey, credential)
    await bucket.put(`credential.${ids.testKey}`, {})
    directory.beforeResolve = async () => undefined
    release()
    await waitFor(async () => (await codes()).every((code) => code === 'INVALID_CREDENTIALS'), {
      timeoutMs: 2000,
    })
    for (let again = 0; again < 5; again++)
      t.same(await codes(), ['INVALID_CREDENTIALS', 'INVALID_CREDENTIALS'])

    directory.credentials.set(ids.testKey, newCredential())
    await bucket.put(`operator.${ids.operator}`, {})
    await waitFor(async () => (await codes()).every((code) => code === null), { timeoutMs: 2000 })
    const loadsBefore = directory.loads
    await codes()
    t.equal(directory.loads, loadsBefore, 'what is known is not asked again')
  },
)

await t.test('a removed user and a changed role count at once', async (t) => {
  const token = await world.userToken()
  t.equal((await ask(`${world.url}/v1/dashboard/users`, { token })).status, 200)
  directory.users.set(ids.user, 'VIEWER')
  await bucket.put(`user.${ids.user}`, {})
  await waitFor(async () => (await ask(`${world.url}/v1/dashboard/users`, { token })).code === 'FORBIDDEN')
  directory.users.delete(ids.user)
  await bucket.put(`user.${ids.user}`, {})
  await waitFor(
    async () => (await ask(`${world.url}/v1/dashboard/me`, { token })).code === 'INVALID_CREDENTIALS',
  )
  directory.users.set(ids.user, 'OWNER')
  await bucket.put(`user.${ids.user}`, {})
})

await t.test('a session that ended is refused within 2 s, another of the person goes on', async (t) => {
  const [ended, other] = [await world.userToken({ sid: 'ended' }), await world.userToken({ sid: 'other' })]
  const me = async (token: string) => (await ask(`${world.url}/v1/dashboard/me`, { token })).code
  t.same([await me(ended), await me(other)], [null, null])
  directory.endedSessions.add('ended')
  await bucket.put(`user.${ids.user}`, {})
  await waitFor(async () => (await me(ended)) === 'INVALID_CREDENTIALS', { timeoutMs: 2000 })
  t.equal(await me(other), null)
  t.equal(await me(await world.userToken({ sid: undefined })), 'INVALID_CREDENTIALS', 'no session at all')
})

await t.test(
  'who lacks a password of his own or a factor gets to the routes that set it alone',
  async (t) => {
    const token = await world.userToken()
    const lack = async (step: 'password' | 'totp' | null) => {
      directory.lacks = step
      await bucket.put(`user.${ids.user}`, {})
    }
    const asked = async (route: string, body?: object) => {
      const [method = '', where = ''] = route.split(' ')
      return ask(`${world.url}/v1/dashboard/${where}`, { token, method, body })
    }
    await lack('password')
    await waitFor(async () => (await asked('GET users')).code === 'FORBIDDEN')
    t.match(await asked('GET users'), { status: 403, paths: ['password'] })
    t.match(await asked('POST me/totp', { password: 'x' }), { status: 403, paths: ['password'] })
    t.equal((await asked('GET me')).status, 200)
    const passwords = { current_password: 'x', new_password: 'long enough to pass' }
    t.equal((await asked('POST me/password', passwords)).status, 200)
    await lack('totp')
    await waitFor(async () => (await asked('POST me/totp', { password: 'x' })).status === 200)
    t.match(await asked('GET users'), { status: 403, paths: ['totp'] })
    t.match(await asked('GET me/sessions'), { status: 403, paths: ['totp'] })
    t.equal((await asked('GET me')).status, 200)
    await lack(null)
    await waitFor(async () => (await asked('GET users')).status === 200)
  },
)

await t.test('a new key counts at once, a retired one no more', async (t) => {
  const fresh = await newTestKey('k2')
  const claims = claimsFor('operator-api', ids.testKey, ids.operator)
  const [oldToken, newToken] = [await signToken(world.key, claims), await signToken(fresh, claims)]
  t.equal((await ask(world.url + path, { token: newToken })).code, 'INVALID_CREDENTIALS')
  directory.keys = [fresh, world.key]
  t.equal(
    (await ask(world.url + path, { token: newToken })).status,
    200,
    'an unknown key id makes it look again',
  )
  t.equal((await ask(world.url + path, { token: oldToken })).status, 200)
  directory.keys = [fresh]
  await bucket.put('keys', {})
  await waitFor(async () => (await ask(world.url + path, { token: oldToken })).code === 'INVALID_CREDENTIALS')
  t.equal((await ask(world.url + path, { token: newToken })).status, 200)
  directory.keys = [world.key]
  await bucket.put('keys', {})
  await waitFor(async () => (await ask(world.url + path, { token: oldToken })).status === 200)
})

await t.test('tokens of a key that ended are refused by every gateway within 2 s', async (t) => {
  const other = await world.addGateway()
  const fresh = await newTestKey('k3')
  const tokens = [await world.operatorToken(), await world.playerToken(), await world.userToken()]
  const routes = [path, '/v1/game/session', '/v1/dashboard/me']
  const codes = async () =>
    Promise.all(
      [world.url, other.url].flatMap((url) =>
        tokens.map(async (token, index) => (await ask(url + routes[index], { token })).code),
      ),
    )
  t.strictSame(new Set(await codes()), new Set([null]))
  directory.keys = [fresh]
  await bucket.put('keys', {})
  await waitFor(async () => (await codes()).every((code) => code === 'INVALID_CREDENTIALS'), {
    timeoutMs: 2000,
  })
  const claims = claimsFor('operator-api', ids.testKey, ids.operator)
  const minted = await signToken(fresh, claims)
  for (const url of [world.url, other.url]) t.equal((await ask(url + path, { token: minted })).status, 200)
  directory.keys = [world.key]
  await bucket.put('keys', {})
  await waitFor(async () => (await codes()).every((code) => code === null), { timeoutMs: 2000 })
})

await t.test('a silent heartbeat refuses every token and fails /readyz by name', async (t) => {
  const token = await world.operatorToken()
  await waitFor(async () => (await ask(world.url + path, { token })).status === 200)
  world.stopHeartbeat()
  await waitFor(async () => (await ask(world.url + path, { token })).code === 'SERVICE_UNAVAILABLE', {
    timeoutMs: 7000,
    everyMs: 100,
  })
  const ready = await ask(`${world.url}/readyz`)
  t.match(ready, { status: 503, code: 'SERVICE_UNAVAILABLE', paths: ['revocation-bucket'] })
  t.match(ready.message, /revocation-bucket/)
  t.match(
    await ask(world.url + path, { token: 'rubbish' }),
    { code: 'INVALID_CREDENTIALS' },
    'rubbish stays rubbish',
  )
})
