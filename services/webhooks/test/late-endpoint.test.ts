import { deliveryHealth } from '@pitboss/contracts/calls/dashboard'
import { dashboardGetDelivery } from '@pitboss/contracts/endpoints/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

const count = 300
const answerMs = 80

t.test('what waits for an endpoint with a backlog is in lists and counts, and goes out once', async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t, (response) => setTimeout(() => response.end(), answerMs))
  const { webhook_id: webhookId } = await rig.createEndpoint(receiver.url)
  const published = await Promise.all(Array.from({ length: count }, () => rig.publish()))
  const isLate = async () => (await rig.collections.endpoints.findOne({ _id: webhookId }))?.isLate === true
  await waitFor(isLate, { what: 'a new delivery to wait for a second' })

  const waiting = await rig.deliveries({ status: 'PENDING' })
  t.ok(waiting.length > 0, `${waiting.length} in the list`)
  t.equal(new Set(waiting.map(({ delivery_id: id }) => id)).size, waiting.length, 'each once')
  const places = waiting.map(({ created_at: at }) => at)
  t.strictSame(places, places.toSorted().toReversed(), 'the newest first')
  t.equal(await rig.collections.deliveries.countDocuments({ attemptCount: 0 }), 0, 'none is stored')
  const { pending } = await rig.bus.call(deliveryHealth, { caller: rig.caller() })
  t.ok(pending > 0, `${pending} counted`)

  const last = (await rig.collections.log.find().sort({ _id: -1 }).limit(1).toArray())[0]?.e
  const [found] = await rig.deliveries({ event_id: String(last), webhook_id: webhookId })
  t.match(found, { status: 'PENDING', attempt_count: 0 })
  const params = { delivery_id: found?.delivery_id ?? '' }
  const target = { caller: rig.caller(), params, query: {}, body: undefined }
  t.match((await rig.call(dashboardGetDelivery, target)).body, { event_id: last, status: 'PENDING' })

  await waitFor(() => receiver.received.length >= count, { what: 'all events' })
  t.strictSame(receiver.eventIds().toSorted(), published.map(({ id }) => id).toSorted())
  await waitFor(async () => !(await isLate()) && (await rig.countOf('DELIVERED')) === count)
  t.strictSame(await rig.deliveries({ status: 'PENDING' }), [])
})
