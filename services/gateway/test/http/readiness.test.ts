import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { cuttableProxy } from '../fixtures/cuttable-proxy.ts'
import { startWorld } from '../fixtures/start-world.ts'

const world = await startWorld(t)
type Own = (typeof world.gateways)[number]['gateway']['ownChecks']
const ownMissing = async (checks: Own | undefined) => {
  const named = Object.entries(checks ?? {}).map(async ([name, check]) => ((await check()) ? [] : [name]))
  return (await Promise.all(named)).flat()
}
const missing = async (url: string) => {
  const answer = await ask(`${url}/readyz`)
  return answer.status === 200 ? [] : answer.paths
}

await t.test('a gateway that has lost NATS says so and nothing else', async (t) => {
  const proxy = await cuttableProxy(world.natsUrl)
  const far = await world.addGateway({ NATS_URL: proxy.url })
  t.same(await missing(far.url), [])
  t.same(await ownMissing(far.gateway.ownChecks), [])
  await proxy.close()
  await waitFor(async () => (await missing(far.url)).join() === 'nats')
  t.same(await ownMissing(far.gateway.ownChecks), ['nats'])
  const answer = await ask(`${far.url}/readyz`)
  t.match(answer, { status: 503, code: 'SERVICE_UNAVAILABLE', message: /Not ready: nats\./ })
  t.match(answer.headers.get('retry-after'), /^[0-9]+$/)
  t.equal((await ask(`${far.url}/healthz`)).status, 200)
  t.same(await missing(world.url), [], 'the other gateway serves on')
})

await t.test('a NATS that hangs is named long before its connection counts as lost', async (t) => {
  const proxy = await cuttableProxy(world.natsUrl)
  const far = await world.addGateway({ NATS_URL: proxy.url })
  proxy.cut()
  await waitFor(async () => (await missing(far.url)).includes('nats'), { timeoutMs: 4000 })
  t.equal(far.bus.connected(), true)
  t.same(await ownMissing(far.gateway.ownChecks), ['nats'])
  const answer = await ask(`${far.url}/readyz`)
  t.match(answer, { status: 503, code: 'SERVICE_UNAVAILABLE', message: /^Not ready: nats,/ })
  t.strictSame(answer.paths, [...new Set(answer.paths)], 'each is named once')
  proxy.mend()
  await waitFor(async () => (await missing(far.url)).length === 0)
  await proxy.close()
})

await t.test('each service that does not answer is named, one after the other', async (t) => {
  const names = ['rounds', 'wallet-bridge', 'webhooks', 'auth']
  for (const [index, name] of names.entries()) {
    await world.stopService(name)
    await waitFor(async () => (await missing(world.url)).includes(name))
    t.same((await missing(world.url)).toSorted(), names.slice(0, index + 1).toSorted(), name)
    t.same(await ownMissing(world.gateways[0]?.gateway.ownChecks), [], 'the probe port keeps the gateway in')
  }
})

await t.test('a bucket that falls silent keeps no gateway out, one that was never heard does', async (t) => {
  world.stopHeartbeat()
  await waitFor(async () => (await missing(world.url)).includes('revocation-bucket'))
  t.same(await ownMissing(world.gateways[0]?.gateway.ownChecks), [])
  const late = await world.startGateway()
  await waitFor(async () => (await missing(late.url)).includes('revocation-bucket'))
  t.same(await ownMissing(late.gateway.ownChecks), ['revocation-bucket'])
})
