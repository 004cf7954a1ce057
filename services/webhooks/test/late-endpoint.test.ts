import type { ServerResponse } from 'node:http'
import { deliveryHealth } from '@pitboss/contracts/calls/dashboard'
import { dashboardGetDelivery, deleteWebhook } from '@pitboss/contracts/endpoints/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'

const count = 300
const answerMs = 80
/** One page of a list holds all of them. */
const listed = 150

const isLate = async (rig: Rig, webhookId: string) =>
  (await rig.collections.endpoints.findOne({ _id: webhookId }))?.isLate === true

/** An endpoint whose receiver holds every answer back, and that is late with a page of deliveries. */
async function startLate(t: Parameters<typeof startRig>[0]) {
  const rig = await startRig(t)
  const held: ServerResponse[] = []
  const receiver = await startReceiver(t, (response) => held.push(response))
  const { webhook_id: webhookId } = await rig.createEndpoint(receiver.url)
  await Promise.all(Array.from({ length: listed }, () => rig.publish()))
  await waitFor(() => isLate(rig, webhookId), { what: 'a new delivery to wait for a second' })
  return { rig, held, receiver, webhookId }
}

/** Lists all deliveries until they are as `isDone` wants; what was listed once has to stay. */
async function listUntil(rig: Rig, isDone: (statuses: readonly string[]) => boolean): Promise<string[]> {
  const seen = new Set<string>()
  const missed: string[] = []
  await waitFor(
    async () => {
      const found = await rig.deliveries()
      const ids = new Set(found.map(({ delivery_id: id }) => id))
      missed.push(...[...seen].filter((id) => !ids.has(id)))
      for (const id of ids) seen.add(id)
      return seen.size === listed && isDone(found.map(({ status }) => status))
    },
    { what: 'all deliveries to be listed' },
  )
  return missed
}

t.test('what waits for an endpoint with a backlog is in lists and counts, and goes out once', async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t, (response) => setTimeout(() => response.end(), answerMs))
  const { webhook_id: webhookId } = await rig.createEndpoint(receiver.url)
  const published = await Promise.all(Array.from({ length: count }, () => rig.publish()))
  await waitFor(() => isLate(rig, webhookId), { what: 'a new delivery to wait for a second' })

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
  await waitFor(async () => !(await isLate(rig, webhookId)) && (await rig.countOf('DELIVERED')) === count)
  t.strictSame(await rig.deliveries({ status: 'PENDING' }), [])
})

t.test('a delivery is found by its event and by its id while its first attempt runs', async (t) => {
  const rig = await startRig(t)
  const held: ServerResponse[] = []
  const receiver = await startReceiver(t, (response) => held.push(response))
  await rig.createEndpoint(receiver.url)
  for (let times = 0; times < 10; times++) {
    const { id } = await rig.publish()
    const response = await waitFor(() => held.shift(), { what: 'the attempt' })
    const [waiting, ...others] = await rig.deliveries({ event_id: id })
    t.match(waiting, { status: 'PENDING', event_id: id })
    t.strictSame(others, [])
    const params = { delivery_id: waiting?.delivery_id ?? '' }
    const get = async () =>
      (await rig.call(dashboardGetDelivery, { caller: rig.caller(), params, query: {}, body: undefined }))
        .body
    t.match(await get(), { status: 'PENDING' })
    response.end()
    await waitFor(
      async () => {
        const [one] = await rig.deliveries({ event_id: id })
        t.equal(one?.delivery_id, params.delivery_id)
        t.equal((await get()).event_id, id)
        return one?.status === 'DELIVERED'
      },
      { what: 'its success on record' },
    )
  }
})

t.test('a delivery that was listed stays in the list', async (t) => {
  const { rig, held, receiver } = await startLate(t)
  receiver.answer((response) => setTimeout(() => response.end(), answerMs))
  for (const response of held) response.end()
  t.strictSame(await listUntil(rig, (all) => all.every((status) => status === 'DELIVERED')), [])
})

t.test('what waits for an endpoint that is deleted is listed as cancelled', async (t) => {
  const { rig, held, receiver, webhookId } = await startLate(t)
  const params = { webhook_id: webhookId }
  await rig.call(deleteWebhook, { caller: rig.caller(), params, query: {}, body: undefined })
  const inFlight = receiver.eventIds()
  const waiting = (await rig.deliveries()).filter(({ event_id: id }) => !inFlight.includes(id))
  t.strictSame([...new Set(waiting.map(({ status }) => status))], ['CANCELLED'])
  const ending = listUntil(rig, (all) =>
    all.every((status) => status === 'CANCELLED' || status === 'DELIVERED'),
  )
  for (const response of held) response.end()
  t.strictSame(await ending, [])
})
