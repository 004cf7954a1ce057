import { getLimits } from '@pitboss/contracts/endpoints/players'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { errorOf, startRig } from './fixtures/rounds-rig.ts'

t.test('the core without wings opens a session and settles a round, and its events follow', async (t) => {
  const rig = await startRig(t, { wings: [] })
  const session = await rig.openSession()
  const round = await rig.play(session, { stake: '2.50' })
  t.equal(round.status, 'SETTLED')
  t.ok(verifyRound(round).valid)
  t.match(rig.wallet.asked[0], { type: 'BET', amount: '2.50' })
  const events = await waitFor(async () => {
    const found = await rig.events()
    return found.length >= 3 ? found : null
  })
  t.same(
    events.map(({ type }) => type),
    ['game.session.created', 'round.started', 'round.completed'],
  )
  const asked = { caller: rig.caller(), params: { player_id: 'alice' }, query: {}, body: undefined }
  const left = await errorOf(rig.bus.call(getLimits.call, asked))
  t.match(left, { code: 'SERVICE_UNAVAILABLE' }, 'nobody answers for a wing that is left out')
})
