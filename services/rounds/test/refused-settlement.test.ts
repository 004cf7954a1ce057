import { opsResolveOwed } from '@pitboss/contracts/calls/rounds'
import { Registry } from 'prom-client'
import t from 'tap'
import { act, cashOut, codeOf, type Rig, safeTile, startRig } from './fixtures/rounds-rig.ts'
import { storedRounds } from './fixtures/stored-rounds.ts'

const order = { by: 'a person', reason: 'the ledger says so', dryRun: false }

/** A round whose win wallet-bridge refuses for good. */
async function refusedWin(rig: Rig) {
  const session = await rig.openSession({ game: 'mines' })
  const { round_id: roundId } = await rig.play(session)
  await act(rig, session, roundId, await safeTile(rig, roundId))
  rig.wallet.state.refusesWins = 'ROUND_ALREADY_SETTLED'
  t.equal((await cashOut(rig, session, roundId)).status, 'SETTLING')
  const stored = await storedRounds(rig.storage.db).find(rig.scope, roundId)
  const transactionId = stored?.round.wins[0]?.transactionId ?? ''
  const resolve = (change: { as?: 'success' | 'failed'; dryRun?: boolean } = {}) =>
    rig.bus.call(opsResolveOwed, {
      ...{ order: { ...order, dryRun: change.dryRun ?? false }, roundId, transactionId },
      as: change.as ?? 'success',
    })
  return { session, roundId, transactionId, resolve }
}

t.test('a win that wallet-bridge refuses for good is counted by code, and a person ends it', async (t) => {
  const registry = new Registry()
  const rig = await startRig(t, { registry })
  const counted = async () => {
    const metric = registry.getSingleMetric('pitboss_rounds_settlement_refused_total')
    const values = (await metric?.get())?.values ?? []
    return values.find(({ labels }) => labels.code === 'ROUND_ALREADY_SETTLED')?.value ?? 0
  }
  for (const as of ['success', 'failed'] as const) {
    const { session, roundId, resolve } = await refusedWin(rig)
    const before = await counted()
    await rig.until(async () => (await counted()) > before)
    t.equal((await resolve({ as, dryRun: true })).status, 'SETTLING')
    t.equal((await resolve({ as })).status, 'SETTLED', as)
    t.equal(await codeOf(resolve({ as })), 'CONFLICT', 'the round owes it no more')
    t.equal((await rig.round(roundId)).status, 'SETTLED')
    t.equal((await rig.play(session)).status, 'OPEN', 'the player goes on')
  }
  t.notOk(rig.wallet.asked.some(({ type }) => type === 'WIN'))
})

t.test('what wallet-bridge has after all is ended there', async (t) => {
  const rig = await startRig(t)
  const { roundId, resolve } = await refusedWin(rig)
  rig.wallet.state.refusesWins = null
  t.equal(await codeOf(resolve({ as: 'failed' })), 'CONFLICT')
  t.equal((await rig.round(roundId)).status, 'SETTLED')
  t.equal(rig.wallet.asked.filter(({ type }) => type === 'WIN').length, 1)
})
