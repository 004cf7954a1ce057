import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { eventsPosition } from '@pitboss/bus/consume-durable'
import { waitFor } from '@pitboss/testing/wait-for'
import t, { type Test } from 'tap'
import { ensureIndexes } from '../src/ensure-indexes.ts'
import { createOutbox, outboxIndex } from '../src/outbox.ts'
import { outboxEntry, type WithOutbox } from '../src/outbox-entry.ts'
import { startRestartedBroker } from './fixtures/restarted-broker.ts'
import { silentLogger, testStorage } from './fixtures/test-storage.ts'

const scope = { operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11', environment: 'LIVE' } as const
const clock = { now: () => new Date() }
const entry = (id: string) =>
  outboxEntry({ id, type: 'round.started', createdAt: new Date(0), scope, data: { id } })

/** An outbox on a broker of its own, whose files can be put back to what they were. */
async function startRig(t: Test, { documentsMax = 20_000 }: { documentsMax?: number } = {}) {
  const { db } = await testStorage(t)
  await ensureIndexes(db, { entities: [outboxIndex] })
  const collection = db.collection<WithOutbox & { _id: string }>('entities')
  const broker = await startRestartedBroker()
  const { bus } = broker
  let looks = 0
  const outbox = createOutbox({
    collection,
    bus,
    position(withFirst) {
      looks += 1
      return eventsPosition(bus, withFirst)
    },
    documentsMax,
    clock,
    logger: silentLogger,
  })
  const stop = outbox.start()
  t.teardown(async () => {
    await stop()
    await broker.close()
  })
  return {
    ...broker,
    looks: () => looks,
    waiting: async () =>
      (await collection.find({}).toArray()).flatMap(({ outbox: left }) => left.map(({ id }) => id)).sort(),
    async write(id: string) {
      await collection.insertOne({ _id: `of ${id}`, outbox: [entry(id)], outboxAt: clock.now() })
      await outbox.relay({ _id: `of ${id}` })
    },
  }
}

t.test('an event stays in its outbox until webhooks has recorded it', async (t) => {
  const rig = await startRig(t)
  await rig.write('evt_1')
  await rig.write('evt_2')
  t.strictSame(await rig.waiting(), ['evt_1', 'evt_2'], 'the stream has them, webhooks has not')
  const recorder = rig.record()
  await waitFor(async () => (await rig.waiting()).length === 0)
  await recorder.stop()
  t.strictSame(rig.recorded, ['evt_1', 'evt_2'])
  t.equal(await rig.newest(), 2, 'each was sent once')
})

t.test('what webhooks does not record for long waits in its outbox, however much it is', async (t) => {
  const rig = await startRig(t, { documentsMax: 2 })
  const ids = ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5']
  for (const id of ids) await rig.write(id)
  const looksBefore = rig.looks()
  await waitFor(() => rig.looks() >= looksBefore + 2)
  t.strictSame(await rig.waiting(), ids, 'none leaves unrecorded')
  t.equal(await rig.newest(), 2, 'and what does not fit into memory is not sent yet')
  const recorder = rig.record()
  await waitFor(async () => (await rig.waiting()).length === 0)
  await recorder.stop()
  t.strictSame(rig.recorded.toSorted(), ids, 'once there is room the rest follows')
  t.equal(await rig.newest(), 5, 'each once')
})

t.test('a stream restored from a copy is told again what webhooks had not recorded', async (t) => {
  const rig = await startRig(t)
  const first = rig.record()
  await rig.write('evt_1')
  await waitFor(async () => (await rig.waiting()).length === 0)
  await first.stop()
  await rig.whileDown((dataDir, root) => cp(dataDir, join(root, 'copy'), { recursive: true }))
  await rig.write('evt_2')
  await rig.write('evt_3')
  t.equal(await rig.newest(), 3)
  await rig.whileDown(async (dataDir, root) => {
    await rm(dataDir, { recursive: true })
    await cp(join(root, 'copy'), dataDir, { recursive: true })
  })
  const second = rig.record()
  await waitFor(() => rig.recorded.length === 3, { what: 'the lost events are recorded' })
  await waitFor(async () => (await rig.waiting()).length === 0)
  await second.stop()
  t.strictSame(rig.recorded.toSorted(), ['evt_1', 'evt_2', 'evt_3'])
})

t.test('a stream that was lost and made anew gets what webhooks had not recorded', async (t) => {
  const rig = await startRig(t)
  await rig.write('evt_1')
  await rig.write('evt_2')
  await rig.whileDown((dataDir) => rm(dataDir, { recursive: true }))
  await applyTopology(rig.bus.nc, { replicas: 1 })
  const recorder = rig.record()
  await waitFor(() => rig.recorded.length === 2, { what: 'the lost events are recorded' })
  await waitFor(async () => (await rig.waiting()).length === 0)
  await recorder.stop()
})

t.test('an event that leaves the stream before webhooks has recorded it is sent again', async (t) => {
  const rig = await startRig(t)
  const { streams } = await jetstreamManager(rig.bus.nc)
  // The stream takes an id again that it has forgotten, as after the hours for which it keeps an event.
  await streams.update('EVENTS', { duplicate_window: 100e6 })
  await rig.write('evt_1')
  await rig.write('evt_2')
  const before = rig.looks()
  await waitFor(() => rig.looks() >= before + 4, { what: 'looks at which nothing is recorded' })
  await streams.purge('EVENTS')
  await waitFor(async () => (await streams.info('EVENTS')).state.messages === 2, {
    what: 'both to be there again',
  })
  const recorder = rig.record()
  await waitFor(async () => (await rig.waiting()).length === 0)
  await recorder.stop()
  t.strictSame(rig.recorded.toSorted(), ['evt_1', 'evt_2'])
})
