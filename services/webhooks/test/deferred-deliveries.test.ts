import { jetstreamManager } from '@nats-io/jetstream'
import { pauseWebhook } from '@pitboss/contracts/endpoints/webhooks'
import { systemClock } from '@pitboss/runtime/clock'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { createDeferredDeliveries } from '../src/actions/deferred-deliveries.ts'
import type { NewDelivery } from '../src/storage/new-delivery.ts'
import { allDelivered, createWhenUp } from './fixtures/ledger.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'
import { spawnService } from './fixtures/service-process.ts'

/** Each case has its own database and account, and mostly waits. */
t.jobs = 4
const atOnce = { buffered: true }

const long = { timeoutMs: 60_000 }

/** A writer over a store that answers when it is told to. */
function openWriter() {
  const stored: number[] = []
  const answers: PromiseWithResolvers<void>[] = []
  const writer = createDeferredDeliveries({
    endpoints: {
      targets: () => Promise.resolve([]),
      lowerDue: () => Promise.resolve(),
    } as never,
    notifyWorkers: () => undefined,
    clock: systemClock,
    createDeliveries: async (fresh) => {
      stored.push(fresh.length)
      const answer = Promise.withResolvers<void>()
      answers.push(answer)
      await answer.promise
      return { untold: [], stored: Promise.resolve() }
    },
  })
  return { writer, stored, answers }
}

const deferred = (count: number) => ({
  deliveries: Array.from(
    { length: count },
    (_, index): NewDelivery => ({
      ...{ _id: `dlv_${index}`, operatorId: 'o', environment: 'SANDBOX', webhookId: 'whe_1' },
      ...{ eventId: `evt_${index}`, eventType: 'round.started', lane: 'fresh', createdAt: new Date() },
    }),
  ),
  bodyOf: () => '{}',
})

void t.test(
  'a batch is told as stored after its own deliveries, in groups of at most 100',
  atOnce,
  async (t) => {
    const { writer, stored, answers } = openWriter()
    const order: string[] = []
    const first = writer.add(deferred(130), 1).then(() => order.push('first'))
    const second = writer.add(deferred(90), 1).then(() => order.push('second'))
    const drained = writer.drain()
    for (let group = 0; group < 3; group++) {
      await waitFor(() => answers.length > group)
      if (group === 2) t.strictSame(order, ['first'])
      answers[group]?.resolve()
    }
    await Promise.all([first, second, drained])
    t.strictSame(stored, [100, 30, 90])
    t.strictSame(order, ['first', 'second'])
  },
)

void t.test(
  'a batch that cannot be stored is told so, and the next is stored all the same',
  atOnce,
  async (t) => {
    const { writer, answers } = openWriter()
    const lost = writer.add(deferred(100), 1)
    const kept = writer.add(deferred(1), 1)
    const drained = writer.drain()
    await waitFor(() => answers.length === 1)
    answers[0]?.reject(new Error('the database is away'))
    await t.rejects(lost, /away/)
    await waitFor(() => answers.length === 2)
    answers[1]?.resolve()
    await t.resolves(kept)
    await drained
  },
)

void t.test('new events wait while more than a thousand deliveries do', atOnce, async (t) => {
  const { writer, answers } = openWriter()
  const all = [writer.add(deferred(100), 1), writer.add(deferred(950), 1)]
  let free = false
  const room = writer.room().then(() => {
    free = true
  })
  for (let group = 0; group < 11; group++) {
    await waitFor(() => answers.length > group)
    t.equal(free, group > 0, `after ${group} groups`)
    answers[group]?.resolve()
  }
  await Promise.all([...all, room])
})

/** Creates an endpoint that is paused. */
async function createPaused(rig: Rig, url: string): Promise<string> {
  const { webhook_id } = (await createWhenUp(rig, url)).body
  await rig.call(pauseWebhook, { caller: rig.caller(), query: {}, params: { webhook_id }, body: undefined })
  return webhook_id
}

async function isAllAcknowledged(rig: Rig): Promise<boolean> {
  const manager = await jetstreamManager(rig.bus.nc)
  const { num_pending, num_ack_pending } = await manager.consumers.info('EVENTS', 'webhooks-fanout')
  return num_pending + num_ack_pending === 0
}

void t.test(
  'an endpoint that takes none has each event once, and its events are acknowledged',
  atOnce,
  async (t) => {
    const rig = await startRig(t)
    const receiver = await startReceiver(t)
    await rig.createEndpoint(receiver.url)
    const paused = await createPaused(rig, `${receiver.url}/paused`)
    const ids = new Set<string>()
    for (let count = 0; count < 30; count++) ids.add((await rig.publish()).id)
    const { deliveries } = rig.collections
    const held = { webhookId: paused, status: 'HELD' } as const
    await waitFor(async () => (await deliveries.countDocuments(held)) === 30, long)
    await allDelivered(rig, 30)
    t.strictSame(new Set((await deliveries.find(held).toArray()).map(({ eventId }) => eventId)), ids)
    t.equal(await deliveries.countDocuments({}), 60)
    await waitFor(() => isAllAcknowledged(rig), long)
  },
)

for (const point of [
  'webhooks.deferred=kill@1',
  'webhooks.deferred-stored=kill@1',
  'webhooks.before-ack=kill@1',
]) {
  void t.test(
    `killed at ${point}: an endpoint that takes none has each event once, too`,
    atOnce,
    async (t) => {
      const rig = await startRig(t, { start: false })
      const receiver = await startReceiver(t)
      const doomed = spawnService(t, rig.config, point)
      await createWhenUp(rig, receiver.url)
      const paused = await createPaused(rig, `${receiver.url}/paused`)
      const ids: string[] = []
      for (let count = 0; count < 20; count++) ids.push((await rig.publish()).id)
      t.equal(await doomed.ended, 'SIGKILL')
      for (let count = 0; count < 5; count++) ids.push((await rig.publish()).id)
      await rig.startOne()
      const { deliveries } = rig.collections
      const held = { webhookId: paused, status: 'HELD' } as const
      await waitFor(async () => (await deliveries.countDocuments(held)) === 25, long)
      await allDelivered(rig, 25)
      t.strictSame(
        new Set((await deliveries.find(held).toArray()).map(({ eventId }) => eventId)),
        new Set(ids),
      )
      t.strictSame(new Set(receiver.eventIds()), new Set(ids))
      t.equal(await deliveries.countDocuments({}), 50)
      await waitFor(() => isAllAcknowledged(rig), long)
    },
  )
}
