import { createReplay, createWebhook, getReplay } from '@pitboss/contracts/endpoints/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t, { type Test } from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'
import { spawnService } from './fixtures/service-process.ts'

t.setTimeout(120_000)

const long = { timeoutMs: 30_000 }

/** Creates the endpoint once the process answers. */
const createWhenUp = (rig: Rig, url: string) =>
  waitFor(
    () =>
      rig.call(createWebhook, {
        caller: rig.caller({ idempotencyKey: url }),
        params: {},
        query: {},
        body: { url, environment: 'TEST', events: [] },
      }),
    long,
  )

const allDelivered = (rig: Rig, count: number) =>
  waitFor(
    async () => (await rig.collections.deliveries.countDocuments({ status: 'DELIVERED' })) === count,
    long,
  )

async function checkLedger(t: Test, rig: Rig, eventCount: number): Promise<void> {
  const events = await rig.collections.events.find({}).sort({ seq: 1 }).toArray()
  t.strictSame(
    events.map(({ seq }) => seq),
    Array.from({ length: eventCount }, (_, index) => index + 1),
  )
  const deliveries = await rig.collections.deliveries.find({}).toArray()
  t.equal(new Set(deliveries.map(({ eventId }) => eventId)).size, deliveries.length)
  for (const { attempts, attemptCount } of deliveries) {
    t.strictSame(
      attempts.map(({ attempt }) => attempt),
      Array.from({ length: attemptCount }, (_, index) => index + 1),
    )
  }
}

const points = [
  'webhooks.recorded=kill@2',
  'webhooks.fanned-out=kill@2',
  'webhooks.before-ack=kill@2',
  'webhooks.claimed=kill@9',
  'webhooks.posted=kill@9',
  'webhooks.health-settled=kill@9',
  'webhooks.settled=kill@9',
]

for (const point of points) {
  await t.test(`killed at ${point}: every event arrives, extras at most what was in flight`, async (t) => {
    const rig = await startRig(t, { start: false })
    const receiver = await startReceiver(t)
    const doomed = spawnService(t, rig.config, point)
    await createWhenUp(rig, receiver.url)
    const ids: string[] = []
    for (let batch = 0; batch < 4; batch++) {
      for (let count = 0; count < 10; count++) ids.push((await rig.publish()).id)
      await waitFor(
        async () =>
          doomed.child.signalCode !== null || (await rig.collections.events.countDocuments({})) >= ids.length,
        long,
      )
    }
    t.equal(await doomed.ended, 'SIGKILL')
    spawnService(t, rig.config)
    await allDelivered(rig, 40)
    t.strictSame(new Set(receiver.eventIds()), new Set(ids))
    t.ok(receiver.received.length <= 48, `${receiver.received.length} posts`)
    await checkLedger(t, rig, 40)
  })
}

await t.test('a replay job goes on after its replica was killed and sends nothing twice', async (t) => {
  const rig = await startRig(t, { start: false })
  const receiver = await startReceiver(t)
  const first = spawnService(t, rig.config, 'webhooks.replay-page=kill@2')
  for (let count = 0; count < 700; count += 50) {
    await Promise.all(Array.from({ length: 50 }, () => rig.publish()))
  }
  await waitFor(async () => (await rig.collections.events.countDocuments({})) === 700, long)
  const { body } = await createWhenUp(rig, receiver.url)
  const { webhook_id } = body
  const base = { caller: rig.caller(), query: {} }
  const begun = await rig.call(createReplay, {
    ...base,
    params: { webhook_id },
    body: {
      from: new Date(Date.now() - 3_600_000).toISOString(),
      to: new Date().toISOString(),
      only: 'missing',
      dry_run: false,
    },
  })
  t.equal(await first.ended, 'SIGKILL')
  spawnService(t, rig.config)
  const replay_id = begun.body.replay_id ?? ''
  const done = await waitFor(
    async () => {
      const job = await rig.call(getReplay, { ...base, params: { webhook_id, replay_id }, body: undefined })
      return job.body.status === 'DONE' ? job.body : null
    },
    { timeoutMs: 60_000 },
  )
  t.match(done, { matched: 700, created: 700, delivered: 700 })
  t.ok(receiver.received.length <= 702, `${receiver.received.length} posts`)
})

await t.test('two replicas, one killed again and again under load: nothing is lost', async (t) => {
  const rig = await startRig(t, { start: false })
  const receiver = await startReceiver(t)
  spawnService(t, rig.config)
  let other = spawnService(t, rig.config)
  await createWhenUp(rig, receiver.url)
  const ids: string[] = []
  for (let kill = 0; kill < 3; kill++) {
    for (let count = 0; count < 60; count++) {
      ids.push((await rig.publish()).id)
      if (count === 30) other.kill()
    }
    other = spawnService(t, rig.config)
  }
  await allDelivered(rig, ids.length)
  t.strictSame(new Set(receiver.eventIds()), new Set(ids))
  t.ok(receiver.received.length <= ids.length + 3 * 8, `${receiver.received.length} posts`)
})
