import { cancelReplay, createReplay, getReplay } from '@pitboss/contracts/endpoints/webhooks'
import { runOutClaims } from '@pitboss/testing/run-out-claims'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { allDelivered, createWhenUp } from './fixtures/ledger.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'
import { spawnService } from './fixtures/service-process.ts'

/** Each case has its own database and account, and mostly waits. */
t.jobs = 4
const atOnce = { buffered: true }

void t.test(
  'a replay job continues after its replica was killed and sends no event twice',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { start: false })
    const receiver = await startReceiver(t)
    const first = spawnService(t, rig.config, 'webhooks.replay-page=kill@2')
    for (let count = 0; count < 700; count += 50) {
      await Promise.all(Array.from({ length: 50 }, () => rig.publish()))
    }
    await waitFor(async () => (await rig.collections.log.countDocuments({})) === 700)
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
    await runOutClaims(rig.storage.db)
    await rig.startOne()
    const replay_id = begun.body.replay_id ?? ''
    const done = await waitFor(
      async () => {
        const job = await rig.call(getReplay, { ...base, params: { webhook_id, replay_id }, body: undefined })
        return job.body.status === 'DONE' ? job.body : null
      },
      { timeoutMs: 120_000 },
    )
    t.match(done, { matched: 700, created: 700, delivered: 700 })
    t.ok(receiver.received.length <= 702, `${receiver.received.length} posts`)
  },
)

void t.test(
  'a replay job ends and counts its arrived events although the cancelling replica is killed',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { start: false })
    const { deliveries, log, replays } = rig.collections
    const receiver = await startReceiver(t, () => undefined)
    const first = spawnService(t, rig.config, 'webhooks.replay-cancelled=kill@1')
    await Promise.all(Array.from({ length: 20 }, () => rig.publish()))
    await waitFor(async () => (await log.countDocuments({})) === 20)
    const { webhook_id } = (await createWhenUp(rig, receiver.url)).body
    const base = { caller: rig.caller(), query: {} }
    const window = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() }
    const body = { ...window, only: 'missing', dry_run: false } as const
    const begun = await rig.call(createReplay, { ...base, params: { webhook_id }, body })
    const params = { webhook_id, replay_id: begun.body.replay_id ?? '' }
    await waitFor(() => receiver.received.length >= 2)
    await waitFor(async () => (await deliveries.countDocuments({})) === 20)
    const lost = rig.call(cancelReplay, { ...base, params, body: undefined }).catch(() => 'lost')
    t.equal(await first.ended, 'SIGKILL')
    receiver.answer((response) => response.end())
    await runOutClaims(rig.storage.db)
    await rig.startOne()
    await waitFor(async () => (await replays.findOne({ _id: params.replay_id }))?.counted === true)
    const job = await rig.call(getReplay, { ...base, params, body: undefined })
    const delivered = await deliveries.countDocuments({ status: 'DELIVERED' })
    t.match(job.body, { status: 'CANCELLED', created: 20, delivered, failed: 0 })
    t.equal(await deliveries.countDocuments({ status: 'CANCELLED' }), 20 - delivered)
    t.equal(await lost, 'lost')
  },
)

void t.test('two replicas, one killed again and again under load, lose no event', atOnce, async (t) => {
  const rig = await startRig(t, { start: false })
  const receiver = await startReceiver(t)
  await rig.startOne()
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
  t.ok(receiver.received.length <= ids.length + 3 * 2 * 8, `${receiver.received.length} posts`)
})

void t.test(
  'a process stopped while a receiver hangs exits 0 within 10 s, and the delivery is repeated',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { start: false })
    let hang = true
    const receiver = await startReceiver(t, (response) => {
      if (!hang) response.end()
    })
    const first = spawnService(t, rig.config)
    await createWhenUp(rig, receiver.url)
    await rig.publish()
    await waitFor(() => receiver.received.length === 1)
    const toldAtMs = performance.now()
    first.child.kill('SIGTERM')
    t.equal(await first.ended, 0)
    t.ok(performance.now() - toldAtMs < 10_000)
    hang = false
    await rig.startOne()
    await allDelivered(rig, 1)
    t.equal(receiver.received.at(-1)?.headers['x-svc-delivery-attempt'], '2')
    const delivery = await rig.collections.deliveries.findOne({})
    t.match(delivery?.attempts[0]?.error, /^interrupted/)
    t.equal(delivery?.step, 2, 'the interrupted attempt was the first step, its repetition none')
  },
)
