import { jetstreamManager, DeliverPolicy } from '@nats-io/jetstream'
import { eventSubject, webhooksFanout } from '@pitboss/bus/topology'
import { fanoutRewind, opsListParked, opsRetryParked } from '@pitboss/contracts/calls/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { deliveryIdOf } from '../src/domain/delivery-id.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'

const order = { by: 'tester', reason: null, dryRun: false }
t.setTimeout(120_000)

const long = { timeoutMs: 20_000 }

/** What `ops consumer rewind` does: the consumer is made anew at the sequence. */
async function rewind(rig: Rig, fromSeq: number, toSeq: number) {
  const started = await rig.bus.call(fanoutRewind.start, { order, fromSeq, toSeq })
  const manager = await jetstreamManager(rig.bus.nc)
  await manager.consumers.delete('EVENTS', 'webhooks-fanout')
  await manager.consumers.add('EVENTS', {
    ...webhooksFanout.config,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: fromSeq,
  })
  return waitFor(async () => {
    const now = await rig.bus.call(fanoutRewind.show, { rewindId: started.rewind_id })
    return now.done ? now : null
  }, long)
}

t.test('a rewind repairs what is missing, changes nothing else and counts both', async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t)
  const before = await rig.publish()
  await waitFor(async () => (await rig.collections.events.countDocuments({})) === 1)
  const { webhook_id } = await rig.createEndpoint(receiver.url, ['transaction.bet'])
  const events = []
  for (let count = 0; count < 20; count++) events.push(await rig.publish())
  await rig.publish({ type: 'round.started' })
  await waitFor(() => receiver.received.length === 20, long)

  const unchanged = await rewind(rig, 1, 22)
  t.match(unchanged, { seen: 22, repaired: 0, unchanged: 22, parked: 0 })
  t.equal(receiver.received.length, 20)
  const [none] = await rig.deliveries({ event_id: before.id })
  t.equal(none, undefined, 'an event from before the endpoint makes no delivery, however often it comes')

  const lost = events.slice(3, 6).map(({ id }) => id)
  await rig.collections.deliveries.deleteMany({ eventId: { $in: lost } })
  await rig.collections.events.deleteOne({ _id: events[19]?.id ?? '' })
  await rig.collections.deliveries.deleteOne({ eventId: events[19]?.id ?? '' })
  const repaired = await rewind(rig, 2, 22)
  t.match(repaired, { seen: 21, repaired: 4, unchanged: 17, parked: 0 })
  await waitFor(() => receiver.received.length === 24, long)
  t.strictSame(new Set(receiver.eventIds().slice(20)), new Set([...lost, events[19]?.id]))
  const id = deliveryIdOf(lost[0] ?? '', webhook_id, 0)
  t.equal((await rig.deliveries({ event_id: lost[0] ?? '' }))[0]?.delivery_id, id, 'under the same id')
})

t.test('a message that nobody can read is parked at its fifth failure and holds nothing back', async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t)
  await rig.createEndpoint(receiver.url)
  const subject = eventSubject(rig.scope, 'transaction.bet')
  const encoder = new TextEncoder()
  await rig.bus.publishEvent({ id: 'evt_rubbish', subject, payload: encoder.encode('{"id": 1') })
  const event = await rig.publish()
  await waitFor(() => receiver.received.length === 1)
  t.strictSame(receiver.eventIds(), [event.id])
  const parked = await waitFor(async () => {
    const { data } = await rig.bus.call(opsListParked, { limit: 10 })
    return data[0] ?? null
  }, long)
  t.match(parked, {
    consumer: 'webhooks-fanout',
    stream_seq: 1,
    subject,
    deliveries: 5,
    error: 'not JSON',
    payload: '{"id": 1',
  })
  const again = await rig.bus.call(opsRetryParked, { order, parkedId: parked.parked_id })
  t.strictSame(again, { parked_id: parked.parked_id, handled: false, error: 'not JSON' })
  const fixed = await rig.publish()
  const { body } = fixed
  await rig.collections.parked.updateOne(
    { _id: parked.parked_id },
    { $set: { payload: Buffer.from(body).toString('base64'), messageId: fixed.id } },
  )
  const handled = await rig.bus.call(opsRetryParked, { order, parkedId: parked.parked_id })
  t.match(handled, { handled: true, error: null })
  t.strictSame((await rig.bus.call(opsListParked, { limit: 10 })).data, [])
})

t.test('many events to several endpoints by type, each exactly once, over two replicas', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const all = await startReceiver(t)
  const wins = await startReceiver(t)
  await rig.createEndpoint(all.url)
  await rig.createEndpoint(wins.url, ['transaction.win'])
  const events = await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      rig.publish({ type: index % 3 === 0 ? 'transaction.win' : 'round.started' }),
    ),
  )
  await waitFor(() => all.received.length >= 300 && wins.received.length >= 100, long)
  t.strictSame(new Set(all.eventIds()), new Set(events.map(({ id }) => id)))
  t.equal(all.received.length, 300)
  t.equal(wins.received.length, 100)
})
