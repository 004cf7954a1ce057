import { patchWebhook, pauseWebhook, resumeWebhook } from '@pitboss/contracts/endpoints/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ownerOf } from '@pitboss/storage/journal/owner-of'
import { startReceiver } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'

const beatEveryMs = 500

/** Has the endpoint belong to another worker, which is alive and does nothing, until the end of this. */
async function holdElsewhere({ collections: { endpoints, instances } }: Rig, webhookId: string) {
  const present = await instances.find({ judgedAt: null }).toArray()
  const alive = present.map(({ _id }) => _id)
  const names = Array.from({ length: 100 }, (_, index) => `idle worker ${index}`)
  const _id = names.find((name) => ownerOf(webhookId, [...alive, name]) === name)
  if (_id === undefined) throw new Error('no name comes first')
  const now = new Date()
  await instances.insertOne({
    ...{ _id, startedAt: now, build: 'test', beat: 0, aliveUntil: now, done: 0, last: 0 },
    ...{ oldestAt: null, judgedAt: null },
  })
  const beats = setInterval(
    () => void instances.updateOne({ _id }, { $inc: { beat: 1 } }).catch(() => undefined),
    beatEveryMs,
  )
  const isFree = async () => (await endpoints.findOne({ _id: webhookId }))?.leaseOwner === null
  await waitFor(isFree, { what: 'a clean hand-over' })
  return async () => {
    clearInterval(beats)
    await instances.deleteOne({ _id })
  }
}

const statusOf = async (rig: Rig, id: string) => (await rig.deliveries({ event_id: id }))[0]?.status ?? null

t.test(
  'what waits at a change of its endpoint is judged by it, however late somebody comes to it',
  async (t) => {
    const rig = await startRig(t)
    const receiver = await startReceiver(t)
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    const at = { caller: rig.caller(), params: { webhook_id }, query: {} }
    await waitFor(
      async () => (await rig.collections.endpoints.findOne({ _id: webhook_id }))?.leaseOwner !== null,
    )
    const release = await holdElsewhere(rig, webhook_id)
    const recorded = (count: number) =>
      waitFor(async () => (await rig.collections.log.countDocuments({})) === count)

    const [bet, started] = [await rig.publish(), await rig.publish({ type: 'round.started' })]
    await recorded(2)
    await rig.call(patchWebhook, { ...at, body: { events: ['round.started'] } })
    await rig.call(patchWebhook, { ...at, body: { events: [] } })
    const later = await rig.publish()
    await recorded(3)
    t.equal(receiver.received.length, 0, 'nobody passes the log')
    await release()
    await waitFor(async () => (await statusOf(rig, later.id)) === 'DELIVERED')
    t.equal(await statusOf(rig, started.id), 'DELIVERED')
    t.equal(await statusOf(rig, bet.id), 'CANCELLED', 'its type was taken off, although it is back')

    const again = await holdElsewhere(rig, webhook_id)
    await rig.call(pauseWebhook, { ...at, body: undefined })
    const skipped = await rig.publish()
    await recorded(4)
    await rig.call(resumeWebhook, { ...at, body: { held: 'skip' } })
    const next = await rig.publish()
    await recorded(5)
    await again()
    await waitFor(async () => (await statusOf(rig, next.id)) === 'DELIVERED')
    t.equal(await statusOf(rig, skipped.id), 'CANCELLED', 'it was recorded before the resume')
    t.strictSame(new Set(receiver.eventIds()), new Set([started.id, later.id, next.id]))
    const narrowings = async () =>
      (await rig.collections.endpoints.findOne({ _id: webhook_id }))?.narrowings ?? []
    await waitFor(async () => (await narrowings()).length === 0, { what: 'it forgets what it has passed' })
  },
)

t.test('a pause beside attempts in flight: those end, and what comes is held', async (t) => {
  const rig = await startRig(t)
  const held: { end(): unknown }[] = []
  const receiver = await startReceiver(t, (response) => held.push(response))
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const at = { caller: rig.caller(), params: { webhook_id }, query: {} }
  const flying = [await rig.publish(), await rig.publish()]
  await waitFor(() => held.length === 2)
  await rig.call(pauseWebhook, { ...at, body: undefined })
  const waiting = [await rig.publish(), await rig.publish()]
  for (const response of held) response.end()
  for (const { id } of flying) await waitFor(async () => (await statusOf(rig, id)) === 'DELIVERED')
  for (const { id } of waiting) await waitFor(async () => (await statusOf(rig, id)) === 'HELD')
  t.equal(receiver.received.length, 2)
  receiver.answer((response) => response.end())
  await rig.call(resumeWebhook, { ...at, body: { held: 'deliver' } })
  for (const { id } of waiting) await waitFor(async () => (await statusOf(rig, id)) === 'DELIVERED')
  t.equal(receiver.received.length, 4)
})
