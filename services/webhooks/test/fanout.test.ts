import { DeliverPolicy, jetstreamManager } from '@nats-io/jetstream'
import { eventSubject, webhooksFanout } from '@pitboss/bus/topology'
import { fanoutRewind, opsListParked, opsRetryParked } from '@pitboss/contracts/calls/webhooks'
import { exactReads } from '@pitboss/testing/exact-reads'
import { waitFor } from '@pitboss/testing/wait-for'
import { systemClock } from '@pitboss/runtime/clock'
import { pino } from 'pino'
import { unpackText } from '@pitboss/storage/packed'
import t from 'tap'
import { readEventMessage, type Recorded, recordEvents } from '../src/actions/record-events.ts'
import { endsOf } from '../src/actions/share-endpoints.ts'
import { deliveryIdOf } from '../src/storage/new-delivery.ts'
import { createEndpointStore } from '../src/storage/endpoint-store.ts'
import { openEventLog } from '../src/storage/event-log.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'

const order = { by: 'tester', reason: null, dryRun: false }

/** Creates the consumer again at the sequence, as `ops consumer rewind` does. */
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
  })
}

t.test('a rewind repairs missing events, changes no others and counts both', async (t) => {
  const rig = await startRig(t)
  const { log } = rig.collections
  const receiver = await startReceiver(t)
  const before = await rig.publish()
  await waitFor(async () => (await log.countDocuments({})) === 1)
  const { webhook_id } = await rig.createEndpoint(receiver.url, ['transaction.bet'])
  const events = []
  for (let count = 0; count < 20; count++) events.push(await rig.publish())
  await rig.publish({ type: 'round.started' })
  await waitFor(async () => (await rig.countOf('DELIVERED')) === 20)

  const unchanged = await rewind(rig, 1, 22)
  t.match(unchanged, { seen: 22, repaired: 0, unchanged: 22, parked: 0 })
  t.equal(receiver.received.length, 20)
  const [none] = await rig.deliveries({ event_id: before.id })
  t.equal(none, undefined, 'an event from before the endpoint makes no delivery, however often it comes')

  // The database is set back: the log more than what the endpoint has passed of it.
  await rig.running[0]?.stop()
  const lost = events.slice(17).map(({ id }) => id)
  const [kept] = await log.find({ e: events[16]?.id ?? '' }).toArray()
  await log.deleteMany({ _id: { $gt: kept?._id ?? '' } })
  await rig.startOne()
  const repaired = await rewind(rig, 2, 22)
  t.match(repaired, { seen: 21, repaired: 4, unchanged: 17, parked: 0 })
  await waitFor(() => lost.every((id) => receiver.eventIds().slice(20).includes(id)))
  const id = deliveryIdOf(lost[0] ?? '', webhook_id)
  await waitFor(async () => (await rig.countOf('DELIVERED')) === 20)
  t.equal((await rig.deliveries({ event_id: lost[0] ?? '' }))[0]?.delivery_id, id, 'under the same id')
})

t.test('an unreadable message is parked at its fifth failure and holds up no other', async (t) => {
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
  })
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
  await waitFor(() => all.received.length >= 300 && wins.received.length >= 100)
  t.strictSame(new Set(all.eventIds()), new Set(events.map(({ id }) => id)))
  t.equal(all.received.length, 300)
  t.equal(wins.received.length, 100)
})

t.test('a reply that reaches the event stream is parked and changes nothing', async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t)
  await rig.createEndpoint(receiver.url)
  const { nc } = rig.bus
  const manager = await jetstreamManager(nc)
  const stored = async (count: number) =>
    waitFor(async () => (await manager.streams.info('EVENTS')).state.messages === count)
  const bet = eventSubject(rig.scope, 'transaction.bet')
  const won = eventSubject(rig.scope, 'transaction.win')
  const event = await rig.publish()
  await waitFor(() => receiver.received.length === 1)

  // An answer about the stream, and the answer of a pull that finds no message.
  nc.publish('$JS.API.STREAM.INFO.EVENTS', '', { reply: won })
  await stored(2)
  const { name: nothing } = await manager.consumers.add('EVENTS', { deliver_policy: DeliverPolicy.New })
  nc.publish(`$JS.API.CONSUMER.MSG.NEXT.EVENTS.${nothing}`, '{"no_wait":true}', { reply: won })
  await stored(3)
  // The acknowledgement of an event, without a message id: a second one would be dropped as a duplicate.
  const second = { ...JSON.parse(event.body), id: `${event.id.slice(0, -4)}aaaa` }
  nc.publish(bet, JSON.stringify(second), { reply: won })
  await stored(5)
  // The same event again, which the broker stores under its own subject; and by hand under another one.
  const { name: last } = await manager.consumers.add('EVENTS', {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: 4,
    filter_subject: bet,
  })
  nc.publish(`$JS.API.CONSUMER.MSG.NEXT.EVENTS.${last}`, '{"no_wait":true}', { reply: won })
  await stored(6)
  await nc.request(won, JSON.stringify(second))

  const parked = await waitFor(async () => {
    const { data } = await rig.bus.call(opsListParked, { limit: 10 })
    return data.length === 4 ? data : null
  })
  t.strictSame(new Set(parked.map(({ subject }) => subject)), new Set([won]))
  t.strictSame(parked.map(({ error }) => error.slice(0, 12)).toSorted(), [
    'not JSON',
    'not an event',
    'not an event',
    'the envelope',
  ])
  const settled = async () => {
    const { num_pending, num_ack_pending } = await manager.consumers.info('EVENTS', 'webhooks-fanout')
    return num_pending + num_ack_pending === 0
  }
  await waitFor(settled, { what: 'the end: none of it comes again' })
  const { state } = await manager.streams.info('EVENTS', { subjects_filter: '>' })
  t.strictSame(state.subjects, { [bet]: 3, [won]: 4 })
  const recorded = await rig.collections.log.find({}).sort({ _id: 1 }).toArray()
  t.strictSame(
    recorded.map(({ e, t: type }) => [e, type]),
    [
      [event.id, 'transaction.bet'],
      [second.id, 'transaction.bet'],
    ],
  )
  await waitFor(() => receiver.received.length === 2)
  t.strictSame(receiver.eventIds(), [event.id, second.id], 'both true events arrived once')
})

t.test('a recorded event stays as it is when another message bears its id', async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t)
  await rig.createEndpoint(receiver.url)
  const event = await rig.publish()
  await waitFor(() => receiver.received.length === 1)
  const before = await rig.collections.log.findOne({ e: event.id })
  await rig.collections.deliveries.deleteMany({})

  const other = { ...rig.scope, operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11' }
  const forge = (scope: typeof other, type: 'transaction.bet' | 'transaction.win') => {
    const envelope = { ...JSON.parse(event.body), operator_id: scope.operatorId, type }
    return rig.bus.nc.request(eventSubject(scope, type), JSON.stringify(envelope))
  }
  await forge(other, 'transaction.bet')
  await forge(rig.scope, 'transaction.win')
  const next = await rig.publish()
  await waitFor(() => receiver.received.length === 2)
  t.strictSame(receiver.eventIds(), [event.id, next.id])
  t.strictSame(await rig.collections.log.findOne({ e: event.id }), before)
  t.equal(
    await rig.collections.deliveries.countDocuments({ eventId: event.id }),
    0,
    'no delivery is made of it',
  )
})

t.test('the first of two events with one id counts, and workers are told of it each time', async (t) => {
  const { collections, scope } = await startRig(t, { start: false })
  const events = await openEventLog(collections)
  const batches: Recorded[] = []
  const onRecorded = (batch: Recorded) => void batches.push(batch)
  const notes = { tell: () => undefined, stop: () => undefined }
  const context = {
    ...{ events, clock: systemClock, notes },
    endpoints: createEndpointStore(collections, exactReads),
    logger: pino({ level: 'silent' }),
  }
  const messages = ['transaction.bet', 'transaction.win'].map((type) => {
    const body = JSON.stringify({
      id: 'evt_01jd5r7mq8v3k9x2c4n6p0s1tw',
      type,
      created_at: '2026-11-22T10:00:00.000Z',
      environment: scope.environment,
      operator_id: scope.operatorId,
      data: {},
    })
    return readEventMessage({ subject: eventSubject(scope, type), id: null, data: Buffer.from(body) })
  })
  await recordEvents(context, messages, onRecorded)
  const recorded = await collections.log.find({}).toArray()
  t.strictSame(
    recorded.map(({ t: type, b: body }) => [type, unpackText(body)]),
    [['transaction.bet', messages[0]?.body]],
  )
  t.strictSame(
    await recordEvents(context, messages, onRecorded),
    new Set(),
    'as after the death of whoever recorded it',
  )
  t.strictSame(
    batches.map((batch) => endsOf([...batch.recorded, ...batch.known.values()])),
    [[{ ...scope, seq: 1 }], [{ ...scope, seq: 1 }]],
  )
})
