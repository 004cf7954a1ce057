import { showLoggedStake } from '@pitboss/contracts/calls/webhooks'
import { newId } from '@pitboss/runtime/new-id'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startRig } from './fixtures/rig.ts'

t.test('what events say of a stake is known, also after this database was set back', async (t) => {
  const rig = await startRig(t)
  const { scope } = rig
  const since = new Date()
  const { log } = rig.collections
  const standingOf = async (stake: { roundId: string; transactionId: string }, at = since) =>
    (await rig.bus.call(showLoggedStake, { scope, ...stake, since: at.toISOString() })).standing
  const publish = async (
    type: 'transaction.bet' | 'transaction.failed' | 'round.completed',
    data: object,
  ) => {
    const { id } = await rig.publish({ type, data: { ...data } })
    await waitFor(() => log.findOne({ e: id }))
  }
  const stake = () => ({ roundId: newId('rnd'), transactionId: newId('bet') })
  const [taken, failed, played, silent] = [stake(), stake(), stake(), stake()]
  const dataOf = ({ roundId, transactionId }: typeof taken) => ({
    ...{ round_id: roundId, transaction_id: transactionId, type: 'BET' },
  })
  await publish('transaction.bet', dataOf(taken))
  await publish('transaction.failed', dataOf(failed))
  await publish('round.completed', { round_id: played.roundId })

  const all = async () => Promise.all([taken, failed, played, silent].map((one) => standingOf(one)))
  t.strictSame(await all(), ['taken', 'not-taken', 'taken', 'not-taken'])
  await log.deleteMany({})
  t.strictSame(await all(), ['taken', 'not-taken', 'taken', 'not-taken'], 'the stream has what is lost here')
  const before = new Date(since.getTime() - 3_600_000)
  t.equal(await standingOf(silent, before), 'unknown', 'the stream does not reach back so far')
  t.equal(await standingOf({ ...taken, transactionId: newId('bet') }), 'not-taken', 'of another stake')
  const foreign = { ...scope, environment: 'LIVE' } as const
  const { standing } = await rig.bus.call(showLoggedStake, {
    ...{ scope: foreign, since: since.toISOString() },
    ...taken,
  })
  t.equal(standing, 'not-taken', 'of another environment')
})
