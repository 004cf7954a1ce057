import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { eventsPosition } from '@pitboss/bus/consume-durable'
import { waitFor } from '@pitboss/testing/wait-for'
import t, { type Test } from 'tap'
import { createEventSender } from '../../src/journal/send-events.ts'
import { renderEvent } from '../../src/rendered-event.ts'
import { startRestartedBroker } from '../fixtures/restarted-broker.ts'
import { silentLogger } from '../fixtures/test-storage.ts'

const scope = { operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11', environment: 'LIVE' } as const
const event = (id: string) =>
  renderEvent({ id, type: 'round.started', createdAt: new Date(0), scope, data: { id } })

/** Events of entries on a broker of its own, whose files can be put back to what they were. */
async function startRig(t: Test) {
  const broker = await startRestartedBroker()
  const { bus } = broker
  const waiting = new Set<string>()
  let positions = 0
  const sender = createEventSender<string>({
    bus,
    position(withFirst) {
      positions += 1
      return eventsPosition(bus, withFirst)
    },
    now: () => new Date(),
    logger: silentLogger,
  })
  const stop = sender.start()
  t.teardown(async () => {
    await stop()
    await broker.close()
  })
  let number = 0
  function send(stream: string, at: Date, ids: readonly string[]) {
    number += 1
    const [first = ''] = ids
    const _id = `${stream}/${String(number).padStart(6, '0')}`
    const entry = { _id, w: first, o: 'A', q: number, at, f: [first], ev: ids.map(event) }
    waiting.add(first)
    sender.send({ stream, entry, recorded: () => waiting.delete(first) })
  }
  return {
    ...broker,
    positions: () => positions,
    /** Entries whose events webhooks has not recorded, by their first event. */
    waiting: () => [...waiting].toSorted(),
    send: (...ids: string[]) => send('aa/stream', new Date(0), ids),
    /** Sends an event of a stream of its own. */
    sendOf: (id: string, at: Date) => send(`aa/${id}`, at, [id]),
  }
}

t.test('an entry waits until webhooks has recorded all its events, in their order', async (t) => {
  const rig = await startRig(t)
  rig.send('evt_1', 'evt_2', 'evt_3')
  rig.send('evt_4')
  await waitFor(async () => (await rig.newest()) === 4)
  t.strictSame(rig.waiting(), ['evt_1', 'evt_4'], 'the stream has them, webhooks has not')
  const recorder = rig.record()
  await waitFor(() => rig.waiting().length === 0)
  await recorder.stop()
  t.strictSame(rig.recorded, ['evt_1', 'evt_2', 'evt_3', 'evt_4'])
  t.equal(await rig.newest(), 4, 'each was sent once')
})

t.test('what happened first leaves first, whichever was listed first', async (t) => {
  const rig = await startRig(t)
  const recorder = rig.record()
  rig.sendOf('evt_young', new Date())
  // Of a clock that is ahead: it does not wait for that.
  rig.sendOf('evt_ahead', new Date(Date.now() + 3_600_000))
  rig.sendOf('evt_old', new Date(0))
  await waitFor(() => rig.waiting().length === 0)
  await recorder.stop()
  t.strictSame(rig.recorded, ['evt_old', 'evt_young', 'evt_ahead'])
})

t.test('a stream restored from a copy gets again what webhooks had not recorded', async (t) => {
  const rig = await startRig(t)
  const first = rig.record()
  rig.send('evt_1')
  await waitFor(() => rig.waiting().length === 0)
  await first.stop()
  await rig.whileDown((dataDir, root) => cp(dataDir, join(root, 'copy'), { recursive: true }))
  rig.send('evt_2')
  rig.send('evt_3')
  await waitFor(async () => (await rig.newest()) === 3)
  await rig.whileDown(async (dataDir, root) => {
    await rm(dataDir, { recursive: true })
    await cp(join(root, 'copy'), dataDir, { recursive: true })
  })
  const second = rig.record()
  await waitFor(() => rig.recorded.length === 3, { what: 'the lost events are recorded' })
  await waitFor(() => rig.waiting().length === 0)
  await second.stop()
  t.strictSame(rig.recorded.toSorted(), ['evt_1', 'evt_2', 'evt_3'])
})

t.test('a stream that was lost and made again gets what webhooks had not recorded', async (t) => {
  const rig = await startRig(t)
  rig.send('evt_1')
  rig.send('evt_2')
  await waitFor(async () => (await rig.newest()) === 2)
  await rig.whileDown((dataDir) => rm(dataDir, { recursive: true }))
  await applyTopology(rig.bus.nc, { replicas: 1 })
  const recorder = rig.record()
  await waitFor(() => rig.recorded.length === 2, { what: 'the lost events are recorded' })
  await waitFor(() => rig.waiting().length === 0)
  await recorder.stop()
})

t.test('an event that leaves the stream before webhooks has recorded it is sent again', async (t) => {
  const rig = await startRig(t)
  const { streams } = await jetstreamManager(rig.bus.nc)
  // The stream takes an id again that it has forgotten, as after the hours for which it keeps an event.
  await streams.update('EVENTS', { duplicate_window: 100e6 })
  rig.send('evt_1')
  rig.send('evt_2')
  await waitFor(async () => (await rig.newest()) === 2)
  const before = rig.positions()
  await waitFor(() => rig.positions() >= before + 4, { what: 'positions at which nothing is recorded' })
  await streams.purge('EVENTS')
  await waitFor(async () => (await streams.info('EVENTS')).state.messages === 2, {
    what: 'both to be there again',
  })
  const recorder = rig.record()
  await waitFor(() => rig.waiting().length === 0)
  await recorder.stop()
  t.strictSame(rig.recorded.toSorted(), ['evt_1', 'evt_2'])
})

t.test('events that wait while the broker is away leave when it is back, in their order', async (t) => {
  const rig = await startRig(t)
  await rig.whileDown(async () => {
    rig.send('evt_1')
    rig.send('evt_2', 'evt_3')
    rig.send('evt_4')
  })
  const recorder = rig.record()
  await waitFor(() => rig.waiting().length === 0)
  await recorder.stop()
  t.strictSame(rig.recorded, ['evt_1', 'evt_2', 'evt_3', 'evt_4'])
})
