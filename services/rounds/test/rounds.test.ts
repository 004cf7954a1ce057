import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import * as playEndpoints from '@pitboss/contracts/endpoints/play'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { codeOf, errorOf, startRig } from './fixtures/rounds-rig.ts'

t.test('a round of dice', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const shown = await rig.bus.call(playEndpoints.getPlayerSession.call, {
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
  const unpaid = await errorOf(
    rig.play(session, { stake: '0.97', bet: { target: '98.00', direction: 'under' } }),
  )
  t.match(unpaid, { code: 'BET_LIMIT_EXCEEDED', retryable: false, details: [{ path: 'stake' }] })
  t.match(unpaid.message, /no more than its stake.* pays is 0\.98 USD\.$/)
  const bad = await errorOf(rig.play(session, { bet: { target: '99.99', direction: 'under' } }))
  t.equal(bad.code, 'VALIDATION_ERROR')
  t.equal(bad.details?.[0]?.path, 'bet.target')

  rig.wallet.next({ kind: 'unwritten', code: 'WALLET_UNAVAILABLE' })
  const refused = await errorOf(rig.play(session))
  t.equal(refused.code, 'WALLET_UNAVAILABLE')
  t.equal(refused.resource, undefined)
  rig.wallet.next({ kind: 'unwritten', code: 'SERVICE_UNAVAILABLE' })
  t.match(await errorOf(rig.play(session)), { code: 'SERVICE_UNAVAILABLE', resource: undefined })
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
    await rig.bus.call(playEndpoints.listPlayerRounds.call, {
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

t.test('a start repeated under its transaction_id answers 201 with the same round', async (t) => {
  const rig = await startRig(t)
  for (const [game, status, bet] of [
    ['dice', 'SETTLED', { target: '50.00', direction: 'over' }],
    ['mines', 'OPEN', { mines: 3 }],
  ] as const) {
    const session = await rig.openSession({ game })
    const body = { stake: '1.00', bet, transaction_id: `again-${game}` }
    const start = () =>
      rig.bus.call(playEndpoints.playRound.call, {
        caller: rig.playerOf(session),
        params: {},
        query: {},
        body,
      })
    const first = await start()
    t.match(first, { status: 201, body: { status } })
    t.strictSame(await start(), first)
    const [inFlight] = await Promise.all([start(), start()])
    t.strictSame(inFlight, first)
  }
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
