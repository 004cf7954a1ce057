import { newId } from '@pitboss/runtime/new-id'
import { systemClock } from '@pitboss/runtime/clock'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { waitFor } from '@pitboss/testing/wait-for'
import pino from 'pino'
import t from 'tap'
import { createCreateDeliveries } from '../src/actions/create-deliveries.ts'
import { freshHealth } from '../src/rules/endpoint-health.ts'
import { collectionsOf } from '../src/storage/collections.ts'
import { createDeliveryStore } from '../src/storage/delivery-store.ts'
import { createEndpointStore } from '../src/storage/endpoint-store.ts'
import { indexes } from '../src/storage/indexes.ts'
import { deliveryIdOf, newClaimed } from '../src/storage/new-delivery.ts'
import { createUnstoredDeliveries } from '../src/actions/unstored-deliveries.ts'
import { openReservation } from '../src/workers/open-reservation.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

t.test('a delivery that can be sent at once wakes nobody; one behind others waits its turn', async (t) => {
  const rig = await startRig(t)
  const { endpoints, deliveries } = rig.collections
  const hanging: { end(): unknown }[] = []
  const receiver = await startReceiver(t)
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const sent = (count: number) => waitFor(() => receiver.received.length === count)
  await rig.publish()
  await sent(1)
  const delivered = async () => (await deliveries.countDocuments({ status: 'DELIVERED' })) === 1
  await waitFor(delivered, { what: 'the first delivery, for which the endpoint was leased' })
  const wakes = async () => (await endpoints.findOne({ _id: webhook_id }))?.wakes
  const before = await wakes()

  receiver.answer((response) => hanging.push(response))
  const ids = new Set<string>()
  for (let count = 2; count <= 9; count++) {
    ids.add((await rig.publish()).id)
    await sent(count)
  }
  const claimed = { eventId: { $in: [...ids] }, claimToken: { $gt: 0 }, attemptCount: 1 }
  await waitFor(async () => (await deliveries.countDocuments(claimed)) === 8)
  t.equal(await wakes(), before, 'none of them had the endpoint woken')
  const last = await rig.publish()
  const waiting = await waitFor(() => deliveries.findOne({ eventId: last.id }))
  t.match(waiting, { claimToken: 0, attemptCount: 0, status: 'PENDING' }, 'the ninth has no room')

  receiver.answer((response) => response.end())
  for (const response of hanging) response.end()
  await sent(10)
  t.strictSame(new Set(receiver.eventIds().slice(1)), new Set([...ids, last.id]))
  const numbers = receiver.received.map(({ headers }) => headers['x-svc-delivery-attempt'])
  t.strictSame(new Set(numbers), new Set(['1']))
})

t.test('what was made under a lost lease is not sent, but stored for the new holder at once', async (t) => {
  const { collections, scope, storage } = await startRig(t, { start: false })
  await ensureIndexes(storage.db, indexes)
  const stores = {
    endpoints: createEndpointStore(collectionsOf(storage.db)),
    deliveries: createDeliveryStore(collectionsOf(storage.db)),
  }
  const [webhookId, eventId, now] = [newId('whe'), newId('evt'), new Date()]
  await stores.endpoints.insert({
    ...{ _id: webhookId, ...scope, version: 1, url: 'https://hooks.example/', description: null, events: [] },
    ...{ secrets: [], health: freshHealth, heldRule: null, createdAt: now, deletedAt: null, dueAt: now },
    ...{ wakes: 0, leaseOwner: 'another', leaseToken: 2 },
  })
  const fresh = {
    ...{ _id: deliveryIdOf(eventId, webhookId, 0), ...scope, webhookId, eventId, createdAt: now },
    ...{ eventType: 'round.started' as const, lane: 'fresh' as const },
  }
  const seen: string[] = []
  const target = {
    ...{ _id: webhookId, ...scope, events: [], version: 1, leaseToken: 1, dueAt: now },
    health: freshHealth,
  }
  const announced: string[] = []
  const createDeliveries = createCreateDeliveries({
    ...stores,
    clock: systemClock,
    unstored: createUnstoredDeliveries({
      stored: stores.deliveries,
      announce: async (documents) => void announced.push(...documents.map(({ _id }) => _id)),
      logger: pino({ level: 'silent' }),
    }),
    reserve: () => [
      openReservation({
        ...{ target, token: 1, now, chosen: [{ due: newClaimed(fresh, 1, now), probe: false }] },
        view: { add: () => undefined, markStale: () => undefined },
        send: () => seen.push('sent'),
        finish: () => seen.push('finished'),
        look: () => undefined,
        stop: () => seen.push('stopped'),
        isStopped: () => false,
        onEnd: () => seen.push('ended'),
      }),
    ],
  })
  const { untold } = await createDeliveries([fresh], [target], () => '{}', true)
  t.strictSame(untold, [])
  t.strictSame(announced, [fresh._id], 'its new holder is told')
  t.strictSame(seen, ['finished', 'stopped', 'ended'])
  const stored = await collections.deliveries.findOne({ _id: fresh._id })
  t.match(stored, { claimToken: 0, attemptCount: 0, status: 'PENDING', lane: 'fresh', attempts: [] })
})
