import { DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { waitFor } from '@pitboss/testing/wait-for'
import { withEngines } from '@pitboss/testing/with-engines'
import t, { type Test } from 'tap'
import { applyTopology } from '../src/apply-topology.ts'
import { connectBus } from '../src/connect-bus.ts'
import { webhooksFanout } from '../src/topology.ts'
import { type ConsumerPosition, createStallWatch, type Remake, watchConsumer } from '../src/watch-consumer.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

const [stream, name] = ['EVENTS', webhooksFanout.config.durable_name]
const second = 1000

/** A watch whose clock the test moves, on a stream with events `1` to `4`, of which `acknowledged` are. */
async function startWatch(
  t: Test,
  { acknowledged = 3, ...orders }: { acknowledged?: number } & Partial<Remake> = {},
) {
  const { natsUrl } = await withEngines(t)
  const { logger } = memoryLogger()
  const bus = await connectBus({ url: natsUrl, service: 'webhooks', logger })
  await applyTopology(bus.nc, { replicas: 1 })
  const manager = await jetstreamManager(bus.nc)
  const publish = async (id: string) => {
    const subject = 'events.v1.sandbox.op.round.completed'
    await bus.publishEvent({ id, subject, payload: Buffer.from(id) })
  }
  for (const id of ['1', '2', '3', '4']) await publish(id)
  const kept = new Map<string, ConsumerPosition>()
  let ms = 0
  const watch = watchConsumer({
    bus,
    consumer: webhooksFanout,
    remake: {
      positions: {
        read: async (consumer) => kept.get(consumer) ?? null,
        note: async (consumer, position) => void kept.set(consumer, position),
      },
      notes: () => true,
      orders: async () => ({ hold: false, fromSeqs: [] }),
      onBack: () => undefined,
      ...orders,
    },
    logger,
    nowMs: () => ms,
  })
  t.teardown(async () => {
    await watch.stop()
    await bus.close()
  })
  if (acknowledged > 0) {
    await acknowledge(acknowledged)
    ms += 10 * second
    await watch.look()
  }

  async function acknowledge(count: number): Promise<void> {
    const consumer = await jetstream(bus.nc).consumers.get(stream, name)
    for (let taken = 0; taken < count; taken++) await (await consumer.next())?.ackAck()
  }

  return {
    ...{ bus, manager, watch, kept, publish, acknowledge },
    /** Looks, then again so much later. */
    async pass(seconds: number) {
      await watch.look()
      ms += seconds * second
      await watch.look()
    },
    drop: () => manager.consumers.delete(stream, name),
    present: () => manager.consumers.info(stream, name).catch(() => null),
  }
}

t.test('a consumer that is missing is made again after 15 s, from where it was', async (t) => {
  const { watch, drop, pass, present, publish } = await startWatch(t)
  await drop()
  await publish('5')
  await pass(14)
  t.equal(await present(), null)
  t.equal(watch.pending(), 2, 'what came since waits')
  t.notOk(watch.isStalled())
  await pass(1)
  const made = await present()
  t.match(made, { num_pending: 2, config: { deliver_policy: 'by_start_sequence', opt_start_seq: 4 } })
  t.match(made?.config, { ack_policy: 'explicit', max_ack_pending: 1000, max_deliver: -1 })
  t.ok(watch.isStalled(), 'until somebody works it')
})

t.test('of another history of the stream everything comes again', async (t) => {
  const other = async (change: (watched: Awaited<ReturnType<typeof startWatch>>) => Promise<unknown>) => {
    const watched = await startWatch(t)
    await change(watched)
    await watched.pass(15)
    return (await watched.present())?.config.deliver_policy
  }
  const filled = async ({ manager, bus, publish }: Awaited<ReturnType<typeof startWatch>>) => {
    await manager.streams.delete(stream)
    await applyTopology(bus.nc, { replicas: 1, consumers: [] })
    for (const id of ['a', 'b', 'c', 'd']) await publish(id)
  }
  t.equal(await other(filled), DeliverPolicy.All, 'made anew, and as long as it was')
  // As if its files had been put back, and as many events had come since.
  const setBack = async ({ kept, drop }: Awaited<ReturnType<typeof startWatch>>) => {
    const position = kept.get(name)
    t.match(position, { stream, seq: 3 })
    if (position !== undefined) kept.set(name, { ...position, messageAt: '2020-01-01T00:00:00Z' })
    await drop()
  }
  t.equal(await other(setBack), DeliverPolicy.All, 'its files were put back')
  const unknown = async ({ kept, drop }: Awaited<ReturnType<typeof startWatch>>) => {
    kept.clear()
    await drop()
  }
  t.equal(await other(unknown), DeliverPolicy.All, 'nothing is known of it')
})

t.test('a rewind that is about to make it has the first word, and its start counts', async (t) => {
  let hold = true
  const { drop, pass, present } = await startWatch(t, { orders: async () => ({ hold, fromSeqs: [2] }) })
  await drop()
  await pass(20)
  t.equal(await present(), null)
  hold = false
  await pass(0)
  t.match(await present(), { config: { opt_start_seq: 2 } })
})

t.test(
  'messages that wait unanswered for 15 s are a stall, paused or not; one that goes on is none',
  async (t) => {
    const { watch, pass, acknowledge, manager } = await startWatch(t, { acknowledged: 1 })
    await pass(14)
    t.notOk(watch.isStalled())
    await pass(1)
    t.ok(watch.isStalled())
    t.equal(watch.stalledMs(), 15 * second)
    await acknowledge(1)
    await watch.look()
    t.notOk(watch.isStalled(), 'one was acknowledged')
    await manager.consumers.pause(stream, name, new Date('2999-12-31T00:00:00Z'))
    await pass(15)
    t.ok(watch.isStalled(), 'paused')
    await manager.consumers.resume(stream, name)
    await acknowledge(2)
    await waitFor(async () => {
      await watch.look()
      return !watch.isStalled()
    })
    await pass(60)
    t.notOk(watch.isStalled(), 'nothing waits')
  },
)

t.test('what is not known is no stall', async (t) => {
  let ms = 0
  const stall = createStallWatch(() => ms)
  stall.saw({ acknowledged: 7, waiting: true })
  ms = 14_999
  stall.lost()
  stall.saw({ acknowledged: 7, waiting: true })
  ms = 15_000
  t.notOk(stall.isStalled(), 'the wait begins again when the broker is back')
  ms = 30_000
  t.ok(stall.isStalled())
})
