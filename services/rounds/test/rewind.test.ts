import { eventSubject } from '@pitboss/bus/topology'
import { movementsRewind } from '@pitboss/contracts/calls/rounds'
import type { RoundDocument } from '../src/storage/round-document.ts'
import t from 'tap'
import { caughtUp, pauseMovements, rewindMovements, tellOfMovement } from './fixtures/rewind-movements.ts'
import { codeOf, errorOf, startRig } from './fixtures/rounds-rig.ts'

t.setTimeout(120_000)

const rounds = 40
/** When a movement is tried for the second time. */
const lateBy = 1000

t.test('a rewind of the movements counts what it repairs and changes nothing else', async (t) => {
  let aheadMs = 0
  const clock = { now: () => new Date(Date.now() + aheadMs) }
  const rig = await startRig(t, { replicas: 2, clock })
  const session = await rig.openSession()
  for (let count = 0; count < rounds; count++) {
    const { round_id: roundId } = await rig.play(session)
    await Promise.all([tellOfMovement(rig, roundId), tellOfMovement(rig, roundId)])
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

  await t.test('a round that has missed how its stake ended is repaired once', async (t) => {
    rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
    const { resource } = await errorOf(rig.play(session))
    const [roundId, transactionId] = [resource?.round_id ?? '', resource?.transaction_id ?? '']
    // The sweeper, which would find it out by itself, does not look before tomorrow.
    const { matchedCount } = await rig.storage.db
      .collection<RoundDocument>('rounds')
      .updateOne({ _id: roundId }, { $set: { dueAt: new Date(Date.now() + 86_400_000) } })
    t.equal(matchedCount, 1)
    await pauseMovements(rig)
    rig.wallet.end(rig.scope, transactionId, 'SUCCESS')
    await tellOfMovement(rig, roundId)
    await tellOfMovement(rig, roundId)
    aheadMs = lateBy
    t.equal((await rig.round(roundId)).status, 'PENDING')
    const seen = 2 * rounds + 2
    t.match(await rewindMovements(rig), { seen, repaired: 1, unchanged: seen - 1, parked: 0 })
    t.equal((await rig.round(roundId)).status, 'SETTLED')
    t.match(await rewindMovements(rig), { seen, repaired: 0, unchanged: seen, parked: 0 })
  })

  await t.test(
    'what cannot be read, and what other consumers are for, does not keep it from ending',
    async (t) => {
      const payload = new TextEncoder().encode('{"data":')
      const publish = (id: string, type: 'transaction.bet' | 'round.started') =>
        rig.bus.publishEvent({ id, subject: eventSubject(rig.scope, type), payload })
      await publish('evt_rubbish', 'transaction.bet')
      await publish('evt_other', 'round.started')
      const seen = 2 * rounds + 3
      t.match(await rewindMovements(rig), { seen, repaired: 0, unchanged: seen - 1, parked: 1 })
    },
  )

  await t.test('an unknown rewind is not found', async (t) => {
    t.equal(await codeOf(rig.bus.call(movementsRewind.show, { rewindId: 'rwd_none' })), 'NOT_FOUND')
  })
})
