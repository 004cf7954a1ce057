import { systemClock } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { announceDeliveries } from '../src/actions/create-deliveries.ts'
import { createNotifyWorkers } from '../src/clients/notify-workers.ts'
import { createDeliveryStore } from '../src/storage/delivery-store.ts'
import { createEndpointStore } from '../src/storage/endpoint-store.ts'
import { newInterrupted } from '../src/storage/interrupted-delivery.ts'
import { deliveryIdOf } from '../src/storage/new-delivery.ts'
import { allDelivered, checkAttemptNumbers, checkLedger } from './fixtures/ledger.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

// Another process that gets an event a second time finds it recorded and its delivery missing, while the
// first still keeps that delivery in memory.
t.test('no attempt number is used twice when another process makes up for a kept delivery', async (t) => {
  const rig = await startRig(t)
  const stores = {
    endpoints: createEndpointStore(rig.collections),
    deliveries: createDeliveryStore(rig.collections),
  }
  const receiver = await startReceiver(t)
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  await rig.publish()
  // The endpoint is leased for the first delivery.
  await allDelivered(rig, 1)

  const hanging: { end(): unknown }[] = []
  receiver.answer((response) => hanging.push(response))
  for (let count = 1; count <= 8; count++) {
    await rig.publish()
    await waitFor(() => hanging.length === count)
  }
  const ids = Array.from({ length: 4 }, () => newId('evt'))
  const createdAt = new Date()
  const place = { step: 2, stepDueAt: createdAt }
  await stores.deliveries.insertAbsent(
    ids.map((eventId) => {
      const id = deliveryIdOf(eventId, webhook_id, 0)
      const fresh = { ...rig.scope, _id: id, webhookId: webhook_id, eventId, createdAt } as const
      const delivery = { ...fresh, eventType: 'transaction.bet', lane: 'fresh' } as const
      return newInterrupted(delivery, createdAt, () => place)
    }),
  )
  await Promise.all(ids.map((id) => rig.publish({ id, createdAt })))
  await waitFor(async () => (await rig.collections.log.countDocuments({})) === 9 + ids.length)
  const notifyWorkers = createNotifyWorkers(rig.bus)
  await announceDeliveries(
    { endpoints: stores.endpoints, notifyWorkers, clock: systemClock },
    [],
    [webhook_id],
  )

  receiver.answer((response) => response.end())
  for (const response of hanging) response.end()
  await allDelivered(rig, 9 + ids.length)
  checkAttemptNumbers(t, receiver.received)
  await checkLedger(t, rig, 9 + ids.length)
})
