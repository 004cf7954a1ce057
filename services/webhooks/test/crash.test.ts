import { patchWebhook, pauseWebhook } from '@pitboss/contracts/endpoints/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { allDelivered, checkAttemptNumbers, checkLedger, createWhenUp } from './fixtures/ledger.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'
import { spawnService } from './fixtures/service-process.ts'

const points = [
  'webhooks.recorded=kill@2',
  'webhooks.passed=kill@4',
  'webhooks.before-ack=kill@2',
  'webhooks.claimed=kill@9',
  'webhooks.posted=kill@9',
  'webhooks.health-settled=kill@9',
  'webhooks.settled=kill@9',
]

// Each test has its own database and account. Mostly they wait until the stream repeats the messages of the
// dead process.
t.jobs = 8
for (const point of points) {
  const name = `killed at ${point}: every event arrives, extras at most what was in flight`
  void t.test(name, { buffered: true }, async (t) => {
    const rig = await startRig(t, { start: false })
    const receiver = await startReceiver(t)
    const doomed = spawnService(t, rig.config, point)
    await createWhenUp(rig, receiver.url)
    const ids: string[] = []
    for (let batch = 0; batch < 4; batch++) {
      for (let count = 0; count < 10; count++) ids.push((await rig.publish()).id)
      await waitFor(
        async () =>
          doomed.child.signalCode !== null || (await rig.collections.log.countDocuments({})) >= ids.length,
      )
    }
    t.equal(await doomed.ended, 'SIGKILL')
    await rig.startOne()
    await allDelivered(rig, 40)
    t.strictSame(new Set(receiver.eventIds()), new Set(ids))
    // Each extra post is of an attempt that was in flight: of the process that died, or of one that stood
    // still for so long that it counted as gone.
    const stored = (await rig.allDeliveries()).flatMap(({ attempts }) => attempts)
    const cutOff = stored.filter(({ error }) => error?.startsWith('interrupted')).length
    t.ok(receiver.received.length <= 40 + cutOff, `${receiver.received.length} posts, ${cutOff} cut off`)
    checkAttemptNumbers(t, receiver.received)
    await checkLedger(t, rig, 40)
  })
}

void t.test(
  'killed between the change of its types and the cancelling: a worker cancels',
  { buffered: true },
  async (t) => {
    const rig = await startRig(t, { start: false })
    const doomed = spawnService(t, rig.config, 'webhooks.unsubscribed=kill')
    const { body: endpoint } = await createWhenUp(rig, 'http://127.0.0.1:9/')
    const at = { caller: rig.caller(), params: { webhook_id: endpoint.webhook_id }, query: {} }
    await rig.call(pauseWebhook, { ...at, body: undefined })
    await rig.publish()
    await waitFor(async () => (await rig.deliveries({ status: 'HELD' })).length === 1)
    await t.rejects(rig.call(patchWebhook, { ...at, body: { events: ['round.started'] } }))
    t.equal(await doomed.ended, 'SIGKILL')
    await rig.startOne()
    await waitFor(async () => (await rig.deliveries())[0]?.status === 'CANCELLED')
  },
)
