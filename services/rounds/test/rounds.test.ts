import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { codeOf, errorOf, startRig } from './fixtures/rounds-rig.ts'

t.test('a round of dice', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const shown = await rig.bus.call(endpoints.getPlayerSession.call, {
    caller: rig.playerOf(session),
    params: {},
    query: {},
    body: undefined,
  })
  t.equal(shown.body.next_round.nonce, 1)
  t.same(shown.body.balance, { amount: '1000.00', currency: 'USD' })
  t.equal(shown.body.open_round, null)

  const round = await rig.play(session, { client_seed: 'abc', stake: '2.50' })
  t.equal(round.status, 'SETTLED')
  t.equal(
    round.fairness.server_seed_hash,
    shown.body.next_round.server_seed_hash,
    'the commitment shown before is kept',
  )
  const verdict = verifyRound(round)
  t.ok(verdict.valid, JSON.stringify(verdict.checks))

  const events = await waitFor(async () => {
    const found = await rig.events()
    return found.length >= 3 ? found : null
  })
  t.same(
    events.map(({ type }) => type),
    ['game.session.created', 'round.started', 'round.completed'],
  )
  const completed = events.find(({ type }) => type === 'round.completed')
  t.ok(verifyRound(completed).valid, 'the event verifies by itself')

  const next = await rig.play(session)
  t.equal(next.fairness.nonce, 2)
  t.equal(rig.wallet.asked.filter(({ type }) => type === 'BET').length, 2)
  t.same(await rig.round(next.round_id), next)
})

t.test('a refusal before the wallet is asked takes no nonce and leaves no round', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  t.equal(await codeOf(rig.play(session, { stake: '0.001' })), 'VALIDATION_ERROR')
  t.equal(await codeOf(rig.play(session, { stake: '0.01' })), 'BET_LIMIT_EXCEEDED')
  t.equal(await codeOf(rig.play(session, { stake: '1000.01' })), 'BET_LIMIT_EXCEEDED')
  t.equal(
    await codeOf(rig.play(session, { stake: '100.00', bet: { target: '0.01', direction: 'under' } })),
    'BET_LIMIT_EXCEEDED',
    'a win of 990,000.00 is above max_payout',
  )
  const bad = await errorOf(rig.play(session, { bet: { target: '99.99', direction: 'under' } }))
  t.equal(bad.code, 'VALIDATION_ERROR')
  t.equal(bad.details?.[0]?.path, 'bet.target')

  rig.wallet.next({ kind: 'unwritten', code: 'WALLET_UNAVAILABLE' })
  const refused = await errorOf(rig.play(session))
  t.equal(refused.code, 'WALLET_UNAVAILABLE')
  t.equal(refused.resource, undefined)
  rig.wallet.state.configured = false
  t.equal(await codeOf(rig.openSession().then((other) => rig.play(other))), 'WALLET_NOT_CONFIGURED')
  rig.wallet.state.configured = true

  const list = await rig.bus.call(endpoints.listRounds.call, {
    caller: rig.caller(),
    params: {},
    query: { limit: 50 },
    body: undefined,
  })
  t.same(list.body.data, [])
  const round = await rig.play(session)
  t.equal(round.fairness.nonce, 1, 'the nonce serves the next round')
})

t.test('a refused stake fails its round, keeps its nonce and reveals its seed', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
  const request = { transaction_id: 'mine-1' }
  t.equal(await codeOf(rig.play(session, request)), 'INSUFFICIENT_FUNDS')
  t.equal(await codeOf(rig.play(session, request)), 'INSUFFICIENT_FUNDS', 'the same error again')
  t.equal(await codeOf(rig.play(session, { ...request, stake: '2.00' })), 'TRANSACTION_CONFLICT')
  t.equal(rig.wallet.asked.length, 1, 'the wallet was asked once')
  const next = await rig.play(session)
  t.equal(next.fairness.nonce, 2)
  const [, failed] = (
    await rig.bus.call(endpoints.listPlayerRounds.call, {
      caller: rig.playerOf(session),
      params: {},
      query: { limit: 50 },
      body: undefined,
    })
  ).body.data
  t.match(failed, { status: 'FAILED', payout: '0.00', outcome: null, multiplier: null })
  t.ok(failed?.fairness.server_seed)
  const completed = await waitFor(async () => {
    const found = (await rig.events()).filter(({ type }) => type === 'round.completed')
    return found.length > 0 ? found : null
  })
  t.same(
    completed.map(({ data }) => data.round_id),
    [next.round_id],
    'only the started round completes',
  )
})

t.test('50 parallel starts make one round', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const session = await rig.openSession({ game: 'mines' })
  const results = await Promise.allSettled(Array.from({ length: 50 }, () => rig.play(session)))
  const opened = results.filter(({ status }) => status === 'fulfilled')
  t.equal(opened.length, 1)
  const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
  t.same([...new Set(codes)], ['ROUND_IN_PROGRESS'])
  t.equal(rig.wallet.asked.length, 1)
})

t.test('a stake of unknown outcome', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const error = await errorOf(rig.play(session))
  t.equal(error.code, 'WALLET_TIMEOUT')
  const roundId = error.resource?.round_id ?? ''
  const transactionId = error.resource?.transaction_id ?? ''
  t.equal((await rig.round(roundId)).status, 'PENDING')
  t.equal(await codeOf(rig.play(session)), 'ROUND_IN_PROGRESS')

  await t.test('is played out when the wallet turns out to have taken it', async (t) => {
    rig.wallet.end(rig.scope, transactionId, 'SUCCESS')
    const round = await waitFor(
      async () => {
        const now = await rig.round(roundId)
        return now.status === 'SETTLED' ? now : null
      },
      { timeoutMs: 15_000 },
    )
    t.ok(verifyRound(round).valid)
    const repeated = await rig.play(session, { transaction_id: transactionId })
    t.equal(repeated.round_id, roundId, 'a repeat with its id joins it')
  })

  await t.test('can be voided', async (t) => {
    rig.wallet.next({ kind: 'pending', code: 'WALLET_UNAVAILABLE' })
    const { resource } = await errorOf(rig.play(session))
    const voidIt = (id: string) =>
      rig.bus.call(endpoints.voidRound.call, {
        caller: rig.caller(),
        params: { round_id: id },
        query: {},
        body: undefined,
      })
    rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
    const owed = await voidIt(resource?.round_id ?? '')
    t.match(owed, { status: 202, body: { status: 'PENDING' } })
    const done = await voidIt(resource?.round_id ?? '')
    t.match(done, { status: 200, body: { status: 'VOIDED', payout: '0.00', outcome: null } })
    t.equal(await codeOf(voidIt(resource?.round_id ?? '')), 'ROUND_ALREADY_SETTLED')
    t.equal(await codeOf(voidIt('rnd_unknown')), 'ROUND_NOT_FOUND')
  })
})

t.test('an owed credit is paid in the end, whatever the answer was', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'mines' })
  const opened = await rig.play(session, { bet: { mines: 1 } })
  t.equal(opened.status, 'OPEN')
  const tile = await safeTile(rig, opened.round_id)
  const revealed = await act(rig, session, opened.round_id, tile)
  t.equal(revealed.multiplier, '1.0312')
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const cashed = await cashOut(rig, session, opened.round_id)
  t.equal(cashed.status, 'SETTLING')
  t.equal(cashed.payout, '1.03')
  t.ok(cashed.outcome, 'the outcome is fixed')
  t.equal(cashed.fairness.server_seed, null, 'the seed is not shown yet')
  const win = rig.wallet.asked.at(-1)
  rig.wallet.end(rig.scope, win?.transactionId ?? '', 'SUCCESS')
  await waitFor(async () => (await rig.round(opened.round_id)).status === 'SETTLED', { timeoutMs: 15_000 })
  t.equal((await cashOut(rig, session, opened.round_id)).status, 'SETTLED', 'the repeated action answers')
  t.equal(await codeOf(act(rig, session, opened.round_id, 24)), 'ROUND_ALREADY_SETTLED')
})

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

t.test('a round left behind ends in favour of its player', async (t) => {
  const rig = await startRig(t, { timeScale: 600 })
  const session = await rig.openSession({ game: 'mines' })
  const untouched = await rig.play(session, { bet: { mines: 1 } })
  const voided = await waitFor(
    async () => {
      const now = await rig.round(untouched.round_id)
      return now.status === 'VOIDED' ? now : null
    },
    { timeoutMs: 15_000 },
  )
  t.match(voided, { payout: '0.00', end_reason: 'abandoned', outcome: null })
  t.same(
    rig.wallet.asked.map(({ type }) => type),
    ['BET', 'REFUND'],
  )
  const begun = await rig.play(session, { bet: { mines: 1 } })
  await act(rig, session, begun.round_id, await safeTile(rig, begun.round_id))
  await rig.bus.call(endpoints.closeSession.call, {
    caller: rig.caller(),
    params: { session_id: session.session_id },
    query: {},
    body: undefined,
  })
  const paid = await waitFor(
    async () => {
      const now = await rig.round(begun.round_id)
      return now.status === 'SETTLED' ? now : null
    },
    { timeoutMs: 15_000 },
  )
  t.match(paid, { payout: '1.03', end_reason: 'abandoned' })
  t.equal(await codeOf(rig.play(session)), 'SESSION_CLOSED')
})

type Rig = Awaited<ReturnType<typeof startRig>>
type Session = Awaited<ReturnType<Rig['openSession']>>

async function act(rig: Rig, session: Session, roundId: string, tile: number) {
  const request = {
    caller: rig.playerOf(session),
    params: { round_id: roundId },
    query: {},
    body: { tile },
  }
  return (await rig.bus.call(endpoints.revealTile.call, request)).body
}

async function cashOut(rig: Rig, session: Session, roundId: string) {
  const request = {
    caller: rig.playerOf(session),
    params: { round_id: roundId },
    query: {},
    body: undefined,
  }
  return (await rig.bus.call(endpoints.cashOut.call, request)).body
}

/** Looks at the sealed seed as only a test can. */
async function safeTile(rig: Rig, roundId: string): Promise<number> {
  const { bombs, opened } = await rig.board(roundId)
  return (
    Array.from({ length: 25 }, (_, tile) => tile).find(
      (tile) => !bombs.includes(tile) && !opened.includes(tile),
    ) ?? 0
  )
}

async function bombTile(rig: Rig, roundId: string): Promise<number> {
  return (await rig.board(roundId)).bombs[0] ?? 0
}
