import { jetstreamManager } from '@nats-io/jetstream'
import { fanoutRewind } from '@pitboss/contracts/calls/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t, { type Test } from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

const consumer = 'webhooks-fanout'
const [lost, second] = ['consumer webhooks-fanout', 1000]

/** Two replicas whose clock the test moves. */
async function startMoved(t: Test) {
  let ms = 0
  const rig = await startRig(t, { replicas: 2, nowMs: () => ms })
  const manager = await jetstreamManager(rig.bus.nc)
  const gauge = async (metric: string) => {
    const { values = [] } = (await rig.running[0]?.registry.getSingleMetric(metric)?.get()) ?? {}
    return values[0]?.value ?? null
  }
  return {
    ...{ rig, manager, gauge },
    recorded: (count: number) =>
      waitFor(async () => (await rig.collections.log.countDocuments({})) === count),
    /** The clock goes on, until `condition` is met. */
    until: (condition: () => Promise<unknown>) =>
      waitFor(async () => {
        ms += second
        return (await condition()) !== false
      }),
    missing: async () => (await Promise.all(rig.running.map((one) => one.missing()))).flat(),
  }
}

t.test(
  'the consumer is deleted while events come: it is made again, and none is lost or sent twice',
  async (t) => {
    const { rig, manager, recorded, until, missing } = await startMoved(t)
    const receiver = await startReceiver(t)
    await rig.createEndpoint(receiver.url)
    const ids = [(await rig.publish()).id, (await rig.publish()).id]
    await recorded(2)
    // Where it was is known from here on.
    await until(async () => (await rig.storage.db.collection('consumer_positions').countDocuments({})) === 1)
    await manager.consumers.delete('EVENTS', consumer)
    for (let count = 0; count < 3; count++) ids.push((await rig.publish()).id)
    await until(
      async () =>
        (await missing()).filter((name) => name === lost).length === 2 ||
        (await rig.collections.log.countDocuments({})) === 5,
    )
    await until(async () => (await rig.collections.log.countDocuments({})) === 5)
    await waitFor(() => receiver.received.length >= 5)
    t.strictSame(new Set(receiver.eventIds()), new Set(ids))
    t.equal(receiver.received.length, 5)
    const { config } = await manager.consumers.info('EVENTS', consumer)
    t.equal(config.opt_start_seq, 3, 'from the first that was not recorded')
    await waitFor(async () => (await missing()).length === 0)
  },
)

t.test('a replica that starts without the consumer makes it, too', async (t) => {
  const { rig, manager, until } = await startMoved(t)
  await Promise.all(rig.running.map((one) => one.stop()))
  await manager.consumers.delete('EVENTS', consumer)
  await rig.publish()
  const starting = rig.startOne()
  await until(async () => (await manager.consumers.info('EVENTS', consumer).catch(() => null)) !== null)
  await starting
  await waitFor(async () => (await rig.collections.log.countDocuments({})) === 1)
})

t.test('a rewind that ends between its two steps is carried on with', async (t) => {
  const { rig, manager, until, recorded } = await startMoved(t)
  for (let count = 0; count < 3; count++) await rig.publish()
  await recorded(3)
  await until(async () => (await rig.storage.db.collection('consumer_positions').countDocuments({})) === 1)
  const order = { by: 'tester', reason: null, dryRun: false }
  const { rewind_id: rewindId } = await rig.bus.call(fanoutRewind.start, { order, fromSeq: 1, toSeq: 3 })
  await manager.consumers.delete('EVENTS', consumer)
  await rig.collections.log.deleteMany({})
  // As if a minute had gone by.
  await rig.storage.db
    .collection('rewinds')
    .updateMany({}, { $set: { createdAt: new Date(Date.now() - 61_000) } })
  await until(async () => (await rig.collections.log.countDocuments({})) === 3)
  const progress = await waitFor(async () => {
    const now = await rig.bus.call(fanoutRewind.show, { rewindId })
    return now.done ? now : null
  })
  t.match(progress, { seen: 3, repaired: 3 })
})

t.test('while it is paused and events wait, readiness and metrics name it', async (t) => {
  const { rig, manager, until, missing, gauge } = await startMoved(t)
  await manager.consumers.pause('EVENTS', consumer, new Date('2999-12-31T00:00:00Z'))
  await until(async () => true)
  t.strictSame(await missing(), [], 'nothing waits')
  await rig.publish()
  await until(async () => (await missing()).filter((name) => name === lost).length === 2)
  t.equal(await gauge('pitboss_consumer_pending'), 1)
  t.ok(((await gauge('pitboss_consumer_stalled_seconds')) ?? 0) >= 15)
  t.equal(await gauge('pitboss_stream_used_ratio'), 0)
  await manager.consumers.resume('EVENTS', consumer)
  await until(async () => (await missing()).length === 0)
  t.equal(await rig.collections.log.countDocuments({}), 1)
})
