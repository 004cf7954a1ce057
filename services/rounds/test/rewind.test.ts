import { DeliverPolicy, jetstreamManager } from '@nats-io/jetstream'
import { eventSubject } from '@pitboss/bus/topology'
import { movementsRewind } from '@pitboss/contracts/calls/rounds'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import {
  caughtUp,
  pauseMovements,
  rewindMovements,
  publishMovementEvent,
} from './fixtures/rewind-movements.ts'
import { codeOf, errorOf, startRig } from './fixtures/rounds-rig.ts'

const rounds = 40
/** The time of the second try of a movement. */
const lateBy = 1000

t.test('a rewind over the movements of two replicas changes nothing', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const session = await rig.openSession()
  for (let count = 0; count < rounds; count++) {
    const { round_id: roundId } = await rig.play(session)
    await Promise.all([publishMovementEvent(rig, roundId), publishMovementEvent(rig, roundId)])
  }
  await caughtUp(rig)

  await t.test('rounds that are over are left as they are', async (t) => {
    const documents = () => {
      const projection = { version: 1, status: 1, checks: 1, updatedAt: 1, history: 1 }
      return rig.storage.db.collection('rounds').find({}, { projection }).sort({ _id: 1 }).toArray()
    }
    const before = await documents()
    const counts = { seen: 2 * rounds, repaired: 0, unchanged: 2 * rounds, parked: 0 }
    t.match(await rewindMovements(rig), counts)
    t.match(await rewindMovements(rig), counts, 'as often as one likes')
    t.strictSame(await documents(), before)
  })

  await t.test(
    'messages that cannot be read, or are for other consumers, do not keep it from ending',
    async (t) => {
      const payload = new TextEncoder().encode('{"data":')
      const publish = (id: string, type: 'transaction.bet' | 'round.started') =>
        rig.bus.publishEvent({ id, subject: eventSubject(rig.scope, type), payload })
      await publish('evt_rubbish', 'transaction.bet')
      await publish('evt_other', 'round.started')
      const seen = 2 * rounds + 1
      t.match(await rewindMovements(rig), { seen, repaired: 0, unchanged: seen - 1, parked: 1 })
    },
  )

  await t.test('an unknown rewind is not found', async (t) => {
    t.equal(await codeOf(rig.bus.call(movementsRewind.show, { rewindId: 'rwd_none' })), 'NOT_FOUND')
  })
})

t.test('of two messages about a round that missed how its stake ended the first repairs it', async (t) => {
  let aheadMs = 0
  const rig = await startRig(t, { clock: { now: () => new Date(Date.now() + aheadMs) } })
  const session = await rig.openSession()
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const { resource } = await errorOf(rig.play(session))
  const [roundId, transactionId] = [resource?.round_id ?? '', resource?.transaction_id ?? '']
  await pauseMovements(rig)
  rig.wallet.end(rig.scope, transactionId, 'SUCCESS')
  await publishMovementEvent(rig, roundId)
  await publishMovementEvent(rig, roundId)
  t.equal((await rig.round(roundId)).status, 'PENDING', 'the sweeper looks after four seconds')
  aheadMs = lateBy
  t.match(await rewindMovements(rig), { seen: 2, repaired: 1, unchanged: 1, parked: 0 })
  t.equal((await rig.round(roundId)).status, 'SETTLED')
  t.match(await rewindMovements(rig), { seen: 2, repaired: 0, unchanged: 2, parked: 0 })
})

t.test(
  'a message that a reply subject put among the movements moves no round and never comes again',
  async (t) => {
    const rig = await startRig(t)
    const session = await rig.openSession()
    const { round_id: roundId } = await rig.play(session)
    await caughtUp(rig)
    // What follows the answers is out: the session, the round's start and its end.
    await waitFor(async () => (await rig.events()).length === 3)
    const before = await rig.storage.db.collection('rounds').find({}).sort({ _id: 1 }).toArray()
    const manager = await jetstreamManager(rig.bus.nc)
    const won = eventSubject(rig.scope, 'transaction.win')
    const { state } = await manager.streams.info('EVENTS')
    const stored = (more: number) =>
      waitFor(async () => (await manager.streams.info('EVENTS')).state.last_seq === state.last_seq + more)

    rig.bus.nc.publish('$JS.API.STREAM.INFO.EVENTS', '', { reply: won })
    await stored(1)
    const { name } = await manager.consumers.add('EVENTS', { deliver_policy: DeliverPolicy.New })
    rig.bus.nc.publish(`$JS.API.CONSUMER.MSG.NEXT.EVENTS.${name}`, '{"no_wait":true}', { reply: won })
    await stored(2)
    // A round of another account, and one that is over, under the subject of an account: a hint and no more.
    const other = { ...rig.scope, operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11' }
    for (const hint of [roundId, 'rnd_none', '']) {
      const data = JSON.stringify({ data: { round_id: hint } })
      await rig.bus.nc.request(eventSubject(other, 'transaction.win'), data)
    }
    await caughtUp(rig)
    const { num_redelivered, ack_floor } = await manager.consumers.info('EVENTS', 'rounds-movements')
    t.equal(num_redelivered, 0)
    t.equal(ack_floor.stream_seq, state.last_seq + 5)
    t.strictSame(await rig.storage.db.collection('rounds').find({}).sort({ _id: 1 }).toArray(), before)
  },
)
