import { dashboardGetDelivery, dashboardRetryDelivery } from '@pitboss/contracts/endpoints/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t, { type Test } from 'tap'
import { startReceiver, status } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'
import { spawnService } from './fixtures/service-process.ts'

const inMs = (ms: number) => new Date(Date.now() + ms)
const hourMs = 3_600_000
const backlogSize = 12

const request = (rig: Rig, id: string) => ({
  caller: rig.caller(),
  params: { delivery_id: id },
  query: {},
  body: undefined,
})
const show = async (rig: Rig, id: string) => (await rig.call(dashboardGetDelivery, request(rig, id))).body
const retry = (rig: Rig, id: string) => waitFor(() => rig.call(dashboardRetryDelivery, request(rig, id)))

/**
 * An endpoint with an open breaker, whose deliveries have all failed once and are due at their ninth step, in
 * five hours.
 */
async function withOpenBreaker(t: Test, rig: Rig) {
  const receiver = await startReceiver(t, status(500))
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  for (let count = 0; count < backlogSize; count++) await rig.publish()
  const { deliveries, endpoints } = rig.collections
  await waitFor(async () => {
    const underWay = await deliveries.countDocuments({ claimToken: { $gt: 0 } })
    const failed = await deliveries.countDocuments({ attemptCount: { $gt: 0 } })
    const endpoint = await endpoints.findOne({ _id: webhook_id })
    return endpoint?.health.breaker.probeAt !== null && failed >= 10 && underWay === 0
  })
  const stepDueAt = inMs(5 * hourMs)
  const due = { attemptCount: 1, dueAt: stepDueAt, nextAttemptAt: stepDueAt }
  await deliveries.updateMany({}, { $set: { ...due, firstAttemptAt: inMs(-4 * hourMs), step: 9, stepDueAt } })
  await endpoints.updateOne({ _id: webhook_id }, { $set: { 'health.breaker.probeAt': inMs(hourMs) } })
  const [refused, first] = await deliveries.find({}).sort({ order: 1 }).toArray()
  if (refused === undefined || first === undefined) throw new Error('there are no deliveries')
  receiver.answer((response, { headers }) =>
    response.writeHead(headers['x-svc-event-id'] === refused.eventId ? 500 : 200).end(),
  )
  const others = () => rig.countOf('DELIVERED')
  return { webhookId: webhook_id, refused, first, stepDueAt, others, receiver }
}

t.test('a backlog is pulled forward once when the breaker closes, beside its schedule', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const { endpoints } = rig.collections
  const { refused, first, stepDueAt, others, webhookId } = await withOpenBreaker(t, rig)
  await retry(rig, first._id)
  await waitFor(async () => (await others()) === backlogSize - 1)
  const still = { status: 'PENDING', attempt_count: 2, next_attempt_at: stepDueAt.toISOString() }
  const pulled = await waitFor(async () => {
    const shown = await show(rig, refused._id)
    return shown.attempt_count === 2 ? shown : null
  })
  t.match(pulled, still)
  t.match(pulled.waiting_for, /^attempt 3 is due at [0-9:]{8}, after HTTP 500$/)

  const later = await rig.publish()
  await waitFor(async () => (await rig.deliveries({ event_id: later.id }))[0]?.status === 'DELIVERED')
  const noted = await endpoints.findOne({ _id: webhookId })
  t.strictSame(noted?.pulledFor, noted?.health.breaker.closedAt)
  t.match(await show(rig, refused._id), still, 'a success pulls nothing forward')

  // The state after a worker died between the pull and the record of it.
  await endpoints.updateOne(
    { _id: webhookId },
    { $unset: { pulledFor: true }, $inc: { wakes: 1, version: 1 } },
  )
  await waitFor(async () => (await endpoints.findOne({ _id: webhookId }))?.pulledFor !== undefined)
  t.match(await show(rig, refused._id), still, 'the same closing pulls it forward once')

  await retry(rig, refused._id)
  await waitFor(async () => (await show(rig, refused._id)).attempt_count === 3)
  t.match(await show(rig, refused._id), { ...still, attempt_count: 3 }, 'a manual retry uses up no step')
  const kept = await rig.collections.deliveries.findOne({ _id: refused._id })
  t.match(kept, { step: 9, stepDueAt })
})

// Each test has its own database and account. Mostly they wait until the lease of the dead process ends.
t.jobs = 2
for (const point of ['webhooks.health-settled=kill@1', 'webhooks.backlog-pulled=kill@1']) {
  void t.test(
    `killed at ${point}: the backlog is pulled forward all the same, and once`,
    { buffered: true },
    async (t) => {
      const rig = await startRig(t)
      const { refused, first, stepDueAt, others } = await withOpenBreaker(t, rig)
      await Promise.all(rig.running.map((service) => service.stop()))
      const doomed = spawnService(t, rig.config, point)
      // The process may die of what the call began before it has answered the call.
      let isDead = false
      void doomed.ended.then(() => {
        isDead = true
      })
      await waitFor(async () => isDead || (await rig.call(dashboardRetryDelivery, request(rig, first._id))))
      t.equal(await doomed.ended, 'SIGKILL')
      await rig.startOne()
      await waitFor(async () => (await others()) === backlogSize - 1)
      const pulled = await waitFor(async () => {
        const kept = await rig.collections.deliveries.findOne({ _id: refused._id, claimToken: 0 })
        return kept?.attemptCount === 2 ? kept : null
      })
      t.match(pulled, { status: 'PENDING', step: 9, stepDueAt, dueAt: stepDueAt, nextAttemptAt: stepDueAt })
      const later = await rig.publish()
      await waitFor(async () => (await rig.deliveries({ event_id: later.id }))[0]?.status === 'DELIVERED')
      t.equal((await rig.collections.deliveries.findOne({ _id: refused._id }))?.attemptCount, 2)
    },
  )
}
