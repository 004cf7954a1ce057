import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineCall } from '@pitboss/contracts/call'
import { startNats } from '@pitboss/engines/start-nats'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { z } from 'zod'
import { createAccessBucket, watchAccessBucket } from '../src/access-bucket.ts'
import { applyTopology } from '../src/apply-topology.ts'
import { connectBus } from '../src/connect-bus.ts'
import { consumeDurable } from '../src/consume-durable.ts'
import { handler, serveCalls } from '../src/serve-calls.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

const echo = defineCall('rounds.v1.test.echo', {
  token: { none: 'a test' },
  request: z.strictObject({}),
  reply: z.strictObject({}),
  budgetMs: 5000,
})

await t.test('a broker that goes away and comes back costs nothing but the time between', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pitboss-broker-'))
  const { NATS_URL: _, ...env } = process.env
  const accounts = [{ name: 'PITBOSS', users: [{ name: 'any', password: 'p' }] }]
  let nats = await startNats({ dataDir, env, accounts })
  const url = nats.url.replace('nats://', 'nats://any:p@')
  const { logger } = memoryLogger()
  const bus = await connectBus({ url, service: 'rounds', logger })
  t.teardown(async () => {
    await bus.close()
    await nats.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  await applyTopology(bus.nc, { replicas: 1 })
  const handlers = [handler(echo, async () => ({}))]
  const served = await serveCalls({ bus, service: 'rounds', version: '1', logger, handlers })
  t.teardown(() => served.stop())
  const seen: string[] = []
  const worker = consumeDurable({
    bus,
    stream: 'EVENTS',
    consumer: 'webhooks-fanout',
    batchMax: 10,
    logger,
    handle: async (messages) => {
      for (const message of messages) {
        seen.push(message.id ?? '')
        message.ack()
      }
    },
  })
  t.teardown(() => worker.stop())
  const bucket = await createAccessBucket({ bus })
  const changed: string[] = []
  const watch = watchAccessBucket({ bus, onChange: (key) => void changed.push(key), logger })
  t.teardown(() => watch.stop())
  const beating = setInterval(() => {
    bucket.heartbeat().catch(() => undefined)
  }, 200)
  t.teardown(() => clearInterval(beating))
  const publish = (id: string) =>
    bus.publishEvent({ id, subject: 'events.v1.live.op.round.started', payload: Buffer.from('{}') })

  await publish('evt_1')
  await waitFor(() => seen.length === 1 && watch.aliveWithinMs() < 1000, {
    what: 'the event and a heartbeat arrive',
  })

  const port = Number(new URL(nats.url).port)
  await nats.stop()
  await waitFor(() => !bus.connected(), { what: 'the loss is noticed' })
  const askedAtMs = performance.now()
  await t.rejects(bus.call(echo, {}), { code: 'SERVICE_UNAVAILABLE', cause: 'disconnected' })
  await t.rejects(publish('evt_2'), /not connected/)
  await t.rejects(bucket.put('platform', {}), /not connected/)
  t.ok(performance.now() - askedAtMs < 500, 'all of it at once')
  changed.length = 0

  nats = await startNats({ dataDir, env, accounts, port })
  await waitFor(() => bus.connected(), { what: 'the link is back' })
  t.strictSame(await bus.call(echo, {}), {})
  await publish('evt_2')
  await waitFor(() => seen.includes('evt_2'), { what: 'the consumer goes on' })
  await bucket.put('platform', {})
  await waitFor(() => changed.length > 0, {
    what: 'the watch hears of changes, or forgets all',
  })
  await waitFor(() => watch.aliveWithinMs() < 1000, { what: 'the watch is alive' })
  t.strictSame(seen, ['evt_1', 'evt_2'])
})
