import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { cuttableProxy } from '../fixtures/cuttable-proxy.ts'
import { startWorld } from '../fixtures/start-world.ts'

const world = await startWorld(t)
const missing = async (url: string) => {
  const answer = await ask(`${url}/readyz`)
  return answer.status === 200 ? [] : answer.paths
}

await t.test('a gateway that has lost NATS says so and nothing else', async (t) => {
  const proxy = await cuttableProxy(world.natsUrl)
  const far = await world.addGateway({ NATS_URL: proxy.url })
  t.same(await missing(far.url), [])
  await proxy.close()
  await waitFor(async () => (await missing(far.url)).join() === 'nats', { timeoutMs: 10_000 })
  const answer = await ask(`${far.url}/readyz`)
  t.match(answer, { status: 503, code: 'SERVICE_UNAVAILABLE', message: /Not ready: nats\./ })
  t.match(answer.headers.get('retry-after'), /^[0-9]+$/)
  t.equal((await ask(`${far.url}/healthz`)).status, 200)
  t.same(await missing(world.url), [], 'the other gateway serves on')
})

await t.test('each service that does not answer is named, one after the other', async (t) => {
  const names = ['rounds', 'wallet-bridge', 'webhooks', 'auth']
  for (const [index, name] of names.entries()) {
    await world.stopService(name)
    await waitFor(async () => (await missing(world.url)).includes(name), { timeoutMs: 10_000 })
    t.same((await missing(world.url)).toSorted(), names.slice(0, index + 1).toSorted(), name)
  }
})
