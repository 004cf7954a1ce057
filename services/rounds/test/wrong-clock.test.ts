import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { act, safeTile, startRig } from './fixtures/rounds-rig.ts'

const hourMs = 60 * 60 * 1000

t.test('a replica whose clock jumps an hour ahead ends no round that a player plays', async (t) => {
  let [jumpedMs, aheadMs, looks] = [0, 0, 0]
  const rig = await startRig(t, {
    clock: { now: () => new Date(Date.now() + jumpedMs) },
    aheadMs: () => {
      looks += 1
      return aheadMs
    },
  })
  const session = await rig.openSession({ game: 'mines' })
  const { round_id } = await rig.play(session, { bet: { mines: 3 } })
  await act(rig, session, round_id, await safeTile(rig, round_id))

  jumpedMs = hourMs
  aheadMs = hourMs
  const until = looks + 12
  await waitFor(() => looks >= until, { what: 'its workers to have come by' })
  t.equal((await rig.storage.db.collection('rounds').findOne({ status: 'OPEN' }))?._id, round_id)

  aheadMs = 0
  const ended = await waitFor(async () => {
    const round = await rig.round(round_id)
    return round.status === 'SETTLED' ? round : null
  })
  t.match(ended, { end_reason: 'abandoned' }, 'when an hour has really passed')
})
