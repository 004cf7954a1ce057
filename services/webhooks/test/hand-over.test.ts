import { waitFor } from '@pitboss/testing/wait-for'
import t, { type Test } from 'tap'
import { allDelivered, checkAttemptNumbers, checkLedger, createWhenUp } from './fixtures/ledger.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'
import { spawnService } from './fixtures/service-process.ts'

/** Each case has its own database and account, and mostly waits. */
t.jobs = 4
const atOnce = { buffered: true }

/** So many that each of two replicas has some, whatever their names: each has every other one by chance. */
const endpointsShared = 24

const owners = async (rig: Rig) =>
  (await rig.collections.endpoints.find({}).toArray()).map(({ leaseOwner }) => leaseOwner)

/** Publishes until it is told to end, each event once the one before has come to a receiver. */
function keepPublishing(
  t: Test,
  rig: Rig,
  receiver: { eventIds(): string[] },
): { ids: Set<string>; end(): Promise<void> } {
  const ids = new Set<string>()
  let ended = false
  const work = async () => {
    while (!ended) {
      const { id } = await rig.publish()
      ids.add(id)
      await waitFor(() => ended || receiver.eventIds().includes(id), { timeoutMs: 60_000 })
    }
  }
  const done = work()
  t.teardown(() => {
    ended = true
    return done
  })
  return {
    ids,
    end() {
      ended = true
      return done
    },
  }
}

void t.test(
  'endpoints move to a new replica and back under load, and nothing is interrupted or sent twice',
  atOnce,
  async (t) => {
    const rig = await startRig(t)
    const receiver = await startReceiver(t)
    for (let count = 0; count < endpointsShared; count++) await rig.createEndpoint(`${receiver.url}/${count}`)
    await waitFor(async () => (await owners(rig)).every((owner) => owner !== null))
    const load = keepPublishing(t, rig, receiver)
    const other = await rig.startOne()
    await waitFor(async () => new Set(await owners(rig)).size === 2, { what: 'both to have some' })
    await other.stop()
    await waitFor(
      async () => {
        const now = new Set(await owners(rig))
        return now.size === 1 && !now.has(null)
      },
      { what: 'the first to have all again' },
    )
    await load.end()
    await allDelivered(rig, endpointsShared * load.ids.size)
    t.equal(receiver.received.length, endpointsShared * load.ids.size, 'each once')
    t.equal(await rig.collections.deliveries.countDocuments({ 'attempts.error': /^interrupted/ }), 0)
    await checkLedger(t, rig, load.ids.size)
  },
)

void t.test(
  'a worker that stands still for so long that another takes its endpoint uses no attempt number twice',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { start: false })
    const receiver = await startReceiver(t)
    const first = spawnService(t, rig.config)
    await createWhenUp(rig, receiver.url)
    const load = keepPublishing(t, rig, receiver)
    await waitFor(() => receiver.received.length >= 20)
    first.child.kill('SIGSTOP')
    await rig.startOne()
    const before = receiver.received.length
    await waitFor(() => receiver.received.length >= before + 40, { timeoutMs: 60_000 })
    first.child.kill('SIGCONT')
    const resumed = receiver.received.length
    await waitFor(() => receiver.received.length >= resumed + 20)
    await load.end()
    await allDelivered(rig, load.ids.size)
    t.strictSame(new Set(receiver.eventIds()), load.ids)
    checkAttemptNumbers(t, receiver.received)
    await checkLedger(t, rig, load.ids.size)
  },
)
