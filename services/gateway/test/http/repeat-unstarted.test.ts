import { connectBus } from '@pitboss/bus/connect-bus'
import { type CallHandler, handler, serveCalls } from '@pitboss/bus/serve-calls'
import { defineCall } from '@pitboss/contracts/call'
import { listPublicKeys } from '@pitboss/contracts/calls/auth'
import { createLogger } from '@pitboss/runtime/create-logger'
import { withEngines } from '@pitboss/testing/with-engines'
import t from 'tap'
import { z } from 'zod'
import { repeatUnstarted } from '../../src/http/repeat-unstarted.ts'

const logger = createLogger({ service: 'test', level: 'silent' })
const nothing = z.strictObject({})
const stake = (budgetMs: number) =>
  defineCall('rounds.v1.test.stake', {
    request: nothing,
    reply: nothing,
    budgetMs,
    token: { none: 'a test' },
  })

const { natsUrl } = await withEngines(t)
const server = await connectBus({ url: natsUrl, service: 'rounds', logger })
const client = await connectBus({ url: natsUrl, service: 'gateway', logger })
const bus = repeatUnstarted(client)
t.teardown(async () => {
  await Promise.all([server.close(), client.close()])
})
const serve = async (...handlers: CallHandler[]) => {
  const [first] = handlers
  return serveCalls({ bus: server, service: first?.service ?? 'rounds', version: '1', logger, handlers })
}
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

await t.test('a call to a service that is being restarted is answered by it, once', async (t) => {
  let started = 0
  const asked = bus.call(stake(5000), {})
  t.match(await failureOf(client.call(stake(5000), {})), { cause: 'no-responders' })
  const served = await serve(
    handler(stake(5000), async () => {
      started += 1
      return {}
    }),
  )
  t.same(await asked, {})
  t.equal(started, 1)
  await served.stop()
})

await t.test('a call that went out and got no answer is not made again', async (t) => {
  let started = 0
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const served = await serve(
    handler(stake(300), async () => {
      started += 1
      await gate
      return {}
    }),
  )
  t.match(await failureOf(bus.call(stake(300), {})), { code: 'SERVICE_UNAVAILABLE', cause: 'timeout' })
  t.equal(started, 1)
  release()
  await served.stop()
})

await t.test('a read whose callee dies is asked of another, once, and a stake of nobody', async (t) => {
  const read = { ...listPublicKeys, budgetMs: 60_000 }
  for (const [call, service] of [
    [read, 'auth'],
    [stake(60_000), 'rounds'],
  ] as const) {
    const dying = await connectBus({ url: natsUrl, service, logger })
    const taken = Promise.withResolvers<void>()
    const hanging = handler<unknown, unknown>(call, () => {
      taken.resolve()
      return new Promise(() => undefined)
    })
    await serveCalls({ bus: dying, service, version: '1', logger, handlers: [hanging] })
    const asked = bus.call<unknown, unknown>(call, {}).catch((error: unknown) => error)
    await taken.promise
    let answered = 0
    const answer = handler<unknown, unknown>(call, async () => {
      answered += 1
      return service === 'auth' ? { keys: [] } : {}
    })
    const served = await serve(answer)
    await dying.close()
    if (service === 'auth') t.same(await asked, { keys: [] })
    else t.match(await asked, { code: 'SERVICE_UNAVAILABLE', cause: 'lost' })
    t.equal(answered, service === 'auth' ? 1 : 0)
    await served.stop()
  }
})

await t.test('a call without any responder is SERVICE_UNAVAILABLE after a bounded time', async (t) => {
  for (const [budgetMs, atLeastMs, atMostMs] of [
    [200, 0, 1200],
    [800, 250, 1800],
    [10_000, 3250, 6000],
  ] as const) {
    const startedAtMs = performance.now()
    const failure = await failureOf(bus.call(stake(budgetMs), {}))
    const tookMs = performance.now() - startedAtMs
    t.match(failure, { code: 'SERVICE_UNAVAILABLE', cause: 'no-responders' })
    t.ok(tookMs >= atLeastMs - 20 && tookMs < atMostMs, `${tookMs} ms with a budget of ${budgetMs} ms`)
  }
})

await t.test('a deadline of the request itself counts too', async (t) => {
  const startedAtMs = performance.now()
  const context = { requestId: 'req_1', deadlineAtMs: Date.now() + 400 }
  t.match(await failureOf(bus.call(stake(10_000), {}, context)), { cause: 'no-responders' })
  t.ok(performance.now() - startedAtMs < 1000)
})

await t.test('an error of the service itself is not repeated', async (t) => {
  let started = 0
  const served = await serve(
    handler(stake(5000), async () => {
      started += 1
      throw new Error('a fault')
    }),
  )
  t.match(await failureOf(bus.call(stake(5000), {})), { code: 'INTERNAL_ERROR' })
  t.equal(started, 1)
  await served.stop()
})

await t.test('while NATS is away a read is tried again and a stake is refused at once', async (t) => {
  const served = await serve(handler(listPublicKeys, async () => ({ keys: [] })))
  const away = new Promise<void>((resolve) => {
    const watch = async () => {
      for await (const { type } of client.nc.status()) if (type === 'disconnect') return resolve()
    }
    void watch()
  })
  void client.nc.reconnect()
  await away
  const [read, refused] = [bus.call(listPublicKeys, {}), failureOf(bus.call(stake(5000), {}))]
  t.match(await refused, { code: 'SERVICE_UNAVAILABLE', cause: 'disconnected' })
  t.same(await read, { keys: [] })
  await served.stop()
})
