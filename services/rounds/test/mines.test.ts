import { verifyRound } from '@pitboss/fairness/verify-round'
import t from 'tap'
import { codeOf, safeTile, bombTile, act, cashOut, startRig } from './fixtures/rounds-rig.ts'

t.test('mines', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'mines' })
  const opened = await rig.play(session, { bet: { mines: 3 } })
  t.match(opened, {
    status: 'OPEN',
    outcome: null,
    payout: null,
    multiplier: null,
    progress: { tiles_opened: [], next_multiplier: '1.1250' },
  })
  t.equal(await codeOf(cashOut(rig, session, opened.round_id)), 'VALIDATION_ERROR')
  const other = await rig.openSession({ game: 'mines' })
  t.equal(await codeOf(act(rig, other, opened.round_id, 0)), 'ROUND_NOT_FOUND', "a stranger's session")

  const tile = await safeTile(rig, opened.round_id)
  const once = await act(rig, session, opened.round_id, tile)
  const twice = await act(rig, session, opened.round_id, tile)
  t.same(twice, once, 'opening an opened tile changes nothing')
  t.notOk(JSON.stringify(once).includes('bomb'), 'no bomb is shown')

  const again = await rig.openSession({ game: 'mines', player_id: session.player_id })
  const results = await Promise.allSettled([
    act(rig, again, opened.round_id, await safeTile(rig, opened.round_id)),
    cashOut(rig, session, opened.round_id),
  ])
  const final = await rig.round(opened.round_id)
  t.ok(['OPEN', 'SETTLED'].includes(final.status))
  t.ok(results.some(({ status }) => status === 'fulfilled'))
  if (final.status === 'OPEN') await cashOut(rig, session, opened.round_id)
  t.ok(verifyRound(await rig.round(opened.round_id)).valid)

  const lost = await rig.play(session, { bet: { mines: 24 } })
  const bomb = await bombTile(rig, lost.round_id)
  const ended = await act(rig, session, lost.round_id, bomb)
  t.match(ended, { status: 'SETTLED', payout: '0.00', multiplier: '0.0000', end_reason: 'loss' })
  t.same(await act(rig, session, lost.round_id, bomb), ended, 'the ending action repeated answers the round')
  t.equal(await codeOf(act(rig, session, lost.round_id, (bomb + 1) % 25)), 'ROUND_ALREADY_SETTLED')
})

t.test(
  'of many requests that end a round at once on two replicas one does, and all see the same end',
  async (t) => {
    const rig = await startRig(t, { replicas: 2 })
    const session = await rig.openSession({ game: 'mines' })
    const { round_id } = await rig.play(session, { bet: { mines: 12 } })
    await act(rig, session, round_id, await safeTile(rig, round_id))
    const bomb = await bombTile(rig, round_id)
    const asked = rig.wallet.asked.length
    const ends = await Promise.allSettled([
      ...Array.from({ length: 10 }, () => cashOut(rig, session, round_id)),
      ...Array.from({ length: 10 }, () => act(rig, session, round_id, bomb)),
    ])
    const final = await rig.round(round_id)
    t.equal(final.status, 'SETTLED')
    t.ok(verifyRound(final).valid)
    const seen = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
    t.ok(seen.length >= 10, 'the action that ended it is answered each time')
    for (const { payout, outcome, end_reason } of seen) {
      t.same(
        { payout, outcome, end_reason },
        {
          payout: final.payout,
          outcome: final.outcome,
          end_reason: final.end_reason,
        },
      )
    }
    const codes = await Promise.all(
      ends
        .filter(({ status }) => status === 'rejected')
        .map((end) => codeOf(end.status === 'rejected' ? Promise.reject(end.reason) : Promise.resolve())),
    )
    t.ok(
      codes.every((code) => code === 'ROUND_ALREADY_SETTLED'),
      String(codes),
    )
    const credits = rig.wallet.asked.slice(asked).filter(({ type }) => type === 'WIN')
    t.equal(new Set(credits.map(({ transactionId }) => transactionId)).size, final.payout === '0.00' ? 0 : 1)
  },
)

t.test('a round cashes out by itself before the step that would pay more than max_payout', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'mines' })
  const { round_id } = await rig.play(session, { stake: '1000.00', bet: { mines: 20 } })
  const first = await act(rig, session, round_id, await safeTile(rig, round_id))
  t.match(first, { status: 'OPEN', multiplier: '4.9500' })
  const second = await act(rig, session, round_id, await safeTile(rig, round_id))
  t.match(second, { status: 'SETTLED', end_reason: 'max_payout', multiplier: '29.7000', payout: '29700.00' })
  t.ok(verifyRound(second).valid)
})
