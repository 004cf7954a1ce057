import { once } from 'node:events'
import type { Account } from '@pitboss/contracts/caller'
import * as playEndpoints from '@pitboss/contracts/endpoints/play'
import * as roundsEndpoints from '@pitboss/contracts/endpoints/rounds'
import * as sessionsEndpoints from '@pitboss/contracts/endpoints/sessions'
import type { Round } from '@pitboss/contracts/objects/round'
import type { Session } from '@pitboss/contracts/objects/session'
import { ServiceError } from '@pitboss/errors/service-error'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import {
  act,
  bombTile,
  brandId,
  cashOut,
  codeOf,
  errorOf,
  type Rig,
  safeTile,
  startRig,
} from './fixtures/rounds-rig.ts'
import { spawnService } from './fixtures/spawn-service.ts'

const none = { params: {}, query: {}, body: undefined }

/**
 * A clock that stands still until the test moves it on. It begins behind the machine's, which the deadlines
 * of calls come from: moved beyond it, every call would be late.
 */
function createStandingClock() {
  let now = Date.now() - 600_000
  return {
    now: () => new Date(now),
    pass(ms: number) {
      now += ms
    },
  }
}

const show = async (rig: Rig, session: Session) =>
  (await rig.bus.call(playEndpoints.getPlayerSession.call, { ...none, caller: rig.playerOf(session) })).body

const settled = (answers: readonly PromiseSettledResult<Round>[]) => ({
  rounds: answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
  refusals: answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])),
})

t.test('a session has the jurisdiction that it was opened under', async (t) => {
  const rig = await startRig(t)
  const plain = await rig.openSession()
  t.notOk('jurisdiction' in plain, 'without one its record is as it always was')
  t.notOk('jurisdiction' in (await rig.openSession({ jurisdiction: 'NONE' })))
  t.strictSame(Object.keys(await show(rig, plain)).sort(), [
    ...['balance', 'free_bets', 'game', 'next_round', 'open_round', 'session'],
  ])
  for (const jurisdiction of ['UK', 'MT', 'ON', 'SE']) {
    const session = await rig.openSession({ jurisdiction })
    t.equal(session.jurisdiction, jurisdiction)
    const shown = await rig.bus.call(sessionsEndpoints.getSession.call, {
      ...none,
      caller: rig.caller(),
      params: { session_id: session.session_id },
    })
    t.same(shown.body, session)
  }
  t.equal(await codeOf(rig.openSession({ jurisdiction: 'XX' })), 'VALIDATION_ERROR')

  const body = { player_id: 'same', jurisdiction: 'UK' }
  const first = await rig.openSession(body, { idempotencyKey: 'key' })
  t.same(await rig.openSession(body, { idempotencyKey: 'key' }), first)
  const other = { ...body, jurisdiction: 'NONE' }
  t.equal(await codeOf(rig.openSession(other, { idempotencyKey: 'key' })), 'CONFLICT')
})

t.test('a session that names none takes the default of its brand, else of the account', async (t) => {
  const rig = await startRig(t)
  const [brand = { brand_id: '', name: '' }] = rig.caller().account.brands
  const under = (account: Partial<Account>) => ({ account: { ...rig.caller().account, ...account } })
  const opened = async (body: Record<string, unknown>, account: Partial<Account>) =>
    (await rig.openSession(body, under(account))).jurisdiction
  const uk = { default_jurisdiction: 'UK' } as const
  const ofBrand = (default_jurisdiction: 'NONE' | 'ON') => ({
    ...uk,
    brands: [{ ...brand, default_jurisdiction }],
  })
  t.equal(await opened({}, uk), 'UK')
  t.equal(await opened({ brand: brandId }, uk), 'UK', 'a brand without its own')
  t.equal(await opened({ jurisdiction: 'SE' }, uk), 'SE')
  t.equal(await opened({ jurisdiction: 'NONE' }, uk), undefined)
  t.equal(await opened({ brand: brandId }, ofBrand('ON')), 'ON')
  t.equal(await opened({ brand: brandId }, ofBrand('NONE')), undefined)
  t.equal(await opened({}, ofBrand('ON')), 'UK', 'a session of no brand')
})

t.test('a stake that comes too early moves nothing, and its id is as good as new', async (t) => {
  const clock = createStandingClock()
  const rig = await startRig(t, { clock })
  const session = await rig.openSession({ jurisdiction: 'UK' })
  const first = await rig.play(session, { transaction_id: 'first' })
  t.equal(first.status, 'SETTLED')
  clock.pass(1500)
  const before = await show(rig, session)
  const asked = rig.wallet.asked.length
  const early = await errorOf(rig.play(session, { transaction_id: 'second' }))
  t.match(early, { code: 'RATE_LIMITED', retryable: true, retryAfterS: 4 })
  t.equal(rig.wallet.asked.length, asked, 'no movement')
  t.same((await show(rig, session)).next_round, before.next_round, 'no nonce')
  const kept = await rig.storage.db.collection('rounds').countDocuments({ openedUnder: 'second' })
  t.equal(kept, 0, 'no record of its id')
  clock.pass(3499)
  t.match(await errorOf(rig.play(session, { transaction_id: 'second' })), { retryAfterS: 1 })
  clock.pass(1)
  const second = await rig.play(session, { transaction_id: 'second', stake: '2.00' })
  t.match(second, { stake: '2.00', fairness: { nonce: 2 } }, 'also with another body')

  t.same(await rig.play(session, { transaction_id: 'first' }), first, 'a repeat is never too early')
  t.same(await rig.play(session, { transaction_id: 'second', stake: '2.00' }), second)
})

t.test('a start holds back the player in every game and session with the rule', async (t) => {
  const clock = createStandingClock()
  const rig = await startRig(t, { clock })
  const player_id = 'two-tables'
  const dice = await rig.openSession({ player_id, jurisdiction: 'UK' })
  const mines = await rig.openSession({ player_id, jurisdiction: 'UK', game: 'mines' })
  const free = await rig.openSession({ player_id, game: 'spin-bottle' })
  const other = await rig.openSession({ jurisdiction: 'UK' })
  await rig.play(dice)
  t.equal(await codeOf(rig.play(mines)), 'RATE_LIMITED', 'another game of this player')
  t.equal((await rig.play(free)).status, 'SETTLED', 'a session without the rule')
  t.equal((await rig.play(free)).status, 'SETTLED', 'and again')
  t.equal((await rig.play(other)).status, 'SETTLED', 'another player')
  const bet = { type: 'BET', amount: '1.00', currency: 'USD' } as const
  for (const transaction_id of ['op-1', 'op-2']) {
    const session = await rig.openSession({
      player_id: 'two-tables',
      jurisdiction: 'UK',
      game: 'spin-bottle',
    })
    const body = { ...bet, transaction_id, session_id: session.session_id }
    const placing = rig.bus.call(roundsEndpoints.placeTransaction.call, {
      ...none,
      caller: rig.caller(),
      body,
    })
    const { body: placed } = await placing
    t.equal(placed.status, 'SUCCESS', 'a round that the operator drives')
    const end = { ...bet, type: 'WIN', amount: '0.00', final: true, round_id: placed.round_id } as const
    await rig.bus.call(roundsEndpoints.placeTransaction.call, {
      ...{ ...none, caller: rig.caller() },
      body: { ...end, round_id: placed.round_id ?? '', transaction_id: `${transaction_id}-end` },
    })
  }
  clock.pass(5000)
  const open = await rig.play(mines)
  t.equal(open.status, 'OPEN')
  t.equal(await codeOf(rig.play(mines)), 'RATE_LIMITED', 'too early counts before the open round')
  clock.pass(5000)
  t.equal(await codeOf(rig.play(mines)), 'ROUND_IN_PROGRESS')
  t.equal((await rig.play(dice)).status, 'SETTLED', 'the refusal has started nothing')
})

t.test('a free bet is a game start, too', async (t) => {
  const clock = createStandingClock()
  const rig = await startRig(t, { clock })
  const session = await rig.openSession({ jurisdiction: 'UK' })
  await rig.bus.call(roundsEndpoints.createFreeBet.call, {
    ...{ params: {}, query: {}, caller: rig.caller() },
    body: { player_id: session.player_id, game: 'dice', currency: 'USD', stake: '1.00', count: 2 },
  })
  await rig.play(session, { free_bet: true })
  t.equal(await codeOf(rig.play(session, { free_bet: true })), 'RATE_LIMITED')
  t.equal((await show(rig, session)).free_bets[0]?.remaining, 1, 'no free bet was used')
  clock.pass(5000)
  t.equal((await rig.play(session, { free_bet: true })).free_bet, true)
})

t.test('of starts at once on two replicas one is accepted', async (t) => {
  const clock = createStandingClock()
  const rig = await startRig(t, { clock, replicas: 2 })
  const player_id = 'at-once'
  const games = ['dice', 'spin-bottle', 'mines']
  const sessions = await Promise.all(
    games.map((game) => rig.openSession({ player_id, game, jurisdiction: 'UK' })),
  )
  for (let wave = 0; wave < 8; wave++) {
    const asks = [0, 1, 2, 3].flatMap((ask) =>
      sessions.map((session) => rig.play(session, { transaction_id: `w${wave}-${ask}-${session.game}` })),
    )
    const { rounds, refusals } = settled(await Promise.allSettled(asks))
    t.equal(rounds.length, 1, `wave ${wave}`)
    for (const refusal of refusals) {
      t.ok(refusal instanceof ServiceError && refusal.code === 'RATE_LIMITED', String(refusal))
    }
    const [round] = rounds
    if (round?.status === 'OPEN') {
      const cash = {
        ...none,
        caller: rig.playerOf(sessions[2] ?? round),
        params: { round_id: round.round_id },
      }
      const tile = { ...cash, body: { tile: (await rig.board(round.round_id)).bombs[0] ?? 0 } }
      await rig.bus.call(playEndpoints.revealTile.call, tile)
    }
    clock.pass(5000)
  }
  const starts = await rig.storage.db
    .collection('rounds')
    .find({ playerId: player_id })
    .sort({ createdAt: 1 })
    .toArray()
  const times = starts.map(({ createdAt }) => createdAt.getTime())
  t.ok(times.every((time, index) => index === 0 || time - times[index - 1] >= 5000))
})

t.test('of equal requests at once every one is answered by the same round', async (t) => {
  const clock = createStandingClock()
  const rig = await startRig(t, { clock, replicas: 2 })
  const session = await rig.openSession({ jurisdiction: 'UK' })
  for (let wave = 0; wave < 8; wave++) {
    const asks = Array.from({ length: 12 }, () => rig.play(session, { transaction_id: `same-${wave}` }))
    const { rounds, refusals } = settled(await Promise.allSettled(asks))
    t.strictSame(refusals, [], `wave ${wave}`)
    t.equal(new Set(rounds.map(({ round_id }) => round_id)).size, 1)
    clock.pass(5000)
  }
})

t.test('time and net spend of the session are in view', async (t) => {
  const clock = createStandingClock()
  const rig = await startRig(t, { clock })
  const session = await rig.openSession({ jurisdiction: 'UK', game: 'mines' })
  const figures = async () => (await show(rig, session)).protection
  t.strictSame(await figures(), {
    ...{ start_gap_s: 5, elapsed_s: 0, net_spend: { amount: '0.00', currency: 'USD' } },
    reality_check: { every_s: 1800, due_in_s: 1800 },
  })
  for (const jurisdiction of ['MT', 'ON', 'SE']) {
    t.notOk('protection' in (await show(rig, await rig.openSession({ jurisdiction }))), jurisdiction)
  }
  clock.pass(10_999)
  const open = await rig.play(session, { stake: '3.00' })
  t.match(await figures(), { elapsed_s: 10, net_spend: { amount: '3.00' } }, 'an open stake is spent')
  await act(rig, session, open.round_id, await bombTile(rig, open.round_id))
  t.match(await figures(), { net_spend: { amount: '3.00' } })
  clock.pass(5000)
  const won = await rig.play(session, { stake: '10.00', bet: { mines: 20 } })
  await act(rig, session, won.round_id, await safeTile(rig, won.round_id))
  t.match(await cashOut(rig, session, won.round_id), { payout: '49.50' })
  t.match(await figures(), { net_spend: { amount: '-36.50' } }, 'below zero for who has won')

  clock.pass(5000)
  rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
  t.equal(await codeOf(rig.play(session)), 'INSUFFICIENT_FUNDS')
  t.match(await figures(), { net_spend: { amount: '-36.50' } }, 'a refused stake costs nothing')
  const elsewhere = await rig.openSession({ jurisdiction: 'UK', player_id: session.player_id })
  t.match((await show(rig, elsewhere)).protection, { elapsed_s: 0, net_spend: { amount: '0.00' } })
  clock.pass(7_200_000)
  t.match(await figures(), { elapsed_s: 3600 }, 'time stops with the session')
})

t.test('a reality check holds new stakes until the player goes on or stops', async (t) => {
  const clock = createStandingClock()
  const rig = await startRig(t, { clock, replicas: 2 })
  const answer = async (session: Session, choice: 'continue' | 'stop') => {
    const request = { ...none, caller: rig.playerOf(session), body: { choice } }
    return (await rig.bus.call(playEndpoints.answerRealityCheck.call, request)).body
  }
  const { details } = await errorOf(rig.openSession({ reality_check_s: 60 }))
  t.equal(details?.[0]?.path, 'reality_check_s')
  t.equal(await codeOf(answer(await rig.openSession(), 'continue')), 'CONFLICT')

  const session = await rig.openSession({ jurisdiction: 'UK', reality_check_s: 60, game: 'mines' })
  t.equal(session.reality_check_s, 60)
  const open = await rig.play(session)
  clock.pass(30_000)
  t.same(await answer(session, 'continue'), session, 'going on before it is due changes nothing')
  clock.pass(29_999)
  t.match((await show(rig, session)).protection?.reality_check, { every_s: 60, due_in_s: 1 })
  clock.pass(1)
  t.match((await show(rig, session)).protection?.reality_check, { due_in_s: 0 })
  await act(rig, session, open.round_id, await safeTile(rig, open.round_id))
  t.equal((await cashOut(rig, session, open.round_id)).status, 'SETTLED', 'an open round can be finished')
  t.match(await errorOf(rig.play(session)), { code: 'CONFLICT', message: /reality check/ })
  clock.pass(10_000)
  await answer(session, 'continue')
  t.match((await show(rig, session)).protection?.reality_check, { due_in_s: 60 })
  t.equal((await rig.play(session)).status, 'OPEN')
  clock.pass(60_000)
  const stopped = await answer(session, 'stop')
  t.equal(stopped.status, 'CLOSED')
  t.same(await answer(session, 'stop'), stopped, 'stopping again answers it again')
  t.equal(await codeOf(answer(session, 'continue')), 'SESSION_CLOSED')
  t.equal(await codeOf(rig.play(session)), 'SESSION_CLOSED')
})

t.test('the last rounds can be recalled from another session', async (t) => {
  const rig = await startRig(t)
  const player_id = 'recall'
  const session = await rig.openSession({ player_id, jurisdiction: 'ON' })
  const played: string[] = []
  for (let count = 0; count < 11; count++) played.unshift((await rig.play(session)).round_id)
  const later = await rig.openSession({ player_id, jurisdiction: 'ON' })
  const request = { ...none, caller: rig.playerOf(later), query: { limit: 20 } }
  const { data } = (await rig.bus.call(playEndpoints.listPlayerRounds.call, request)).body
  t.strictSame(
    data.map(({ round_id }) => round_id),
    played,
  )
})

t.test('a start outlives the process that accepted it', async (t) => {
  const clock = createStandingClock()
  const rig = await startRig(t, { running: false, clock })
  const child = spawnService(rig, 'rounds.intent-stored')
  try {
    const exited = once(child, 'exit')
    const opening = () => rig.openSession({ jurisdiction: 'UK' })
    const session = await waitFor(opening, { what: 'the service answers', everyMs: 100 })
    void rig.play(session, { transaction_id: 'lost' }).catch(() => undefined)
    t.equal((await exited)[1], 'SIGKILL')
    const [start] = await rig.storage.db.collection('paces').find().toArray()
    t.equal(start?.startedBy, 'dice/lost')
    clock.pass(start?.startedAt.getTime() + 4000 - clock.now().getTime())
    await rig.start()
    t.match(await errorOf(rig.play(session, { transaction_id: 'next' })), { code: 'RATE_LIMITED' })
    const again = await codeOf(rig.play(session, { transaction_id: 'lost' })).catch(() => 'a round')
    t.not(again, 'RATE_LIMITED', 'the request that was accepted is not held back')
  } finally {
    child.kill('SIGKILL')
  }
})
