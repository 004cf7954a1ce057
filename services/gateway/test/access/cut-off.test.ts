import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { cuttableProxy } from '../fixtures/cuttable-proxy.ts'
import { newCredential, startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

const world = await startWorld(t)
const { directory, bucket } = world
const path = '/v1/sessions'

await t.test('a gateway that is cut off from NATS refuses, it never allows', async (t) => {
  const proxy = await cuttableProxy(world.natsUrl)
  world.closeLast(() => proxy.close())
  const far = await world.addGateway({ NATS_URL: proxy.url })
  const token = await world.operatorToken()
  t.equal((await ask(far.url + path, { token })).status, 200)

  proxy.cut()
  directory.credentials.set(ids.testKey, newCredential({ active: false }))
  await bucket.put(`credential.${ids.testKey}`, {})
  await waitFor(async () => (await ask(world.url + path, { token })).code === 'INVALID_CREDENTIALS', {
    timeoutMs: 2000,
  })
  const unverified = async () => (await ask(`${far.url}/v1/public/nothing`)).code
  t.equal(await unverified(), 'NOT_FOUND')
  await waitFor(
    async () => (await ask(far.url + '/v1/game/session', { token })).code === 'SERVICE_UNAVAILABLE',
    {
      timeoutMs: 6000,
      everyMs: 100,
    },
  )
  const refused = await ask(far.url + path, { token })
  t.match(refused, { status: 503, code: 'SERVICE_UNAVAILABLE' })
  t.equal(refused.headers.get('retry-after'), '1')
  const ready = await ask(`${far.url}/readyz`)
  t.equal(ready.status, 503)
  t.ok(ready.paths.includes('revocation-bucket') || ready.paths.includes('nats'), ready.text)
  t.equal((await ask(`${far.url}/healthz`)).status, 200, 'it lives')

  proxy.mend()
  const codes = new Set<string | null>()
  await waitFor(
    async () => {
      const { code } = await ask(far.url + path, { token })
      codes.add(code)
      return code === 'INVALID_CREDENTIALS'
    },
    { everyMs: 50 },
  )
  t.notOk(codes.has(null), 'it never let the revoked key in')
  directory.credentials.set(ids.testKey, newCredential())
  await bucket.put(`credential.${ids.testKey}`, {})
  await waitFor(async () => (await ask(far.url + path, { token })).status === 200)
})
