import { newId } from '@pitboss/runtime/new-id'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { never } from '../src/storage/collections.ts'
import { deliveryIdOf, newDocument } from '../src/storage/new-delivery.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

t.test(
  'an endpoint of an earlier build goes on after the last of its events, and leaves none out',
  async (t) => {
    const rig = await startRig(t)
    const receiver = await startReceiver(t)
    const { webhook_id: webhookId } = await rig.createEndpoint(receiver.url)
    await rig.running[0]?.stop()
    const { endpoints, events, deliveries } = rig.collections
    // As a build left it that was killed: one delivered, one that waits, and one that it may have sent and
    // not stored.
    await endpoints.updateOne(
      { _id: webhookId },
      {
        $set: { leaseOwner: 'a worker of that build', leaseToken: 5 },
        $unset: { beginsAfter: 1, leaseAhead: 1 },
      },
    )
    const at = new Date(Date.now() - 60_000)
    const earlier = ['delivered', 'waiting', 'unstored'].map((name, index) => {
      const body = JSON.stringify({ name })
      return { _id: newId('evt'), seq: index + 1, type: 'transaction.bet' as const, body }
    })
    await events.insertMany(
      earlier.map((event) => ({
        ...{ ...event, ...rig.scope, createdAt: at, createdHighAt: at, recordedAt: at },
        ...{ roundId: null, targets: [webhookId] },
      })),
    )
    const [delivered, waiting, unstored] = earlier.map(({ _id: eventId, type: eventType }) =>
      newDocument({
        ...{ _id: deliveryIdOf(eventId, webhookId), ...rig.scope, webhookId, eventId, eventType },
        ...{ lane: 'fresh', createdAt: at },
      }),
    )
    if (delivered === undefined || waiting === undefined) throw new Error('there are no deliveries')
    const ended = { status: 'DELIVERED', attemptCount: 1, dueAt: never, nextAttemptAt: null } as const
    await deliveries.insertMany([{ ...delivered, ...ended, deliveredAt: at }, waiting])

    await rig.startOne()
    await waitFor(async () => (await rig.countOf('DELIVERED')) === 3)
    const next = await rig.publish()
    await waitFor(async () => (await rig.countOf('DELIVERED')) === 4)
    const sent = receiver.received.map(({ headers }) =>
      [headers['x-svc-event-id'], headers['x-svc-delivery-attempt']].join(' '),
    )
    t.strictSame(new Set(sent), new Set([`${waiting.eventId} 1`, `${unstored?.eventId} 2`, `${next.id} 1`]))
    t.equal(sent.length, 3)
  },
)
