import * as playerEndpoints from '@pitboss/contracts/endpoints/players'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import * as sessionsEndpoints from '@pitboss/contracts/endpoints/sessions'
import type { PlayerStop } from '@pitboss/contracts/objects/player-stop'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { act, codeOf, type Rig, safeTile, startRig } from './fixtures/rounds-rig.ts'

const none = { query: {}, body: undefined }
const farMs = 60 * 60 * 1000

async function stop(rig: Rig, playerId: string, body: { reason?: string; until?: string } = {}) {
  const request = { caller: rig.caller(), params: { player_id: playerId }, query: {} }
  const reply = await rig.bus.call(playerEndpoints.stopPlayer.call, {
    ...request,
    body: { reason: 'self-exclusion', ...body },
  })
  return reply.body
}
async function lift(rig: Rig, playerId: string) {
  const request = { caller: rig.caller(), params: { player_id: playerId }, query: {} }
  return (await rig.bus.call(playerEndpoints.liftStop.call, { ...request, body: { reason: 'over' } })).body
}
async function stopsOf(rig: Rig, playerId: string): Promise<PlayerStop[]> {
  const request = { caller: rig.caller(), params: { player_id: playerId }, query: { limit: 50 } }
  return (await rig.bus.call(playerEndpoints.listStops.call, { ...request, body: undefined })).body.data
}
async function statusOf(rig: Rig, session_id: string) {
  const request = { ...none, caller: rig.caller(), params: { session_id } }
  return (await rig.bus.call(sessionsEndpoints.getSession.call, request)).body.status
}
async function transact(rig: Rig, body: Record<string, unknown>) {
  const { request } = endpoints.placeTransaction.call
  const parsed = request.parse({ caller: rig.caller(), params: {}, query: {}, body })
  return (await rig.bus.call(endpoints.placeTransaction.call, parsed)).body
}

/** A clock that a test can put forward. */
function shiftedClock() {
  let aheadMs = 0
  return {
    now: () => new Date(Date.now() + aheadMs),
    putForward: (ms: number) => {
      aheadMs += ms
    },
  }
}

t.test('a stopped player begins nothing, and what is open ends to the player’s advantage', async (t) => {
  const clock = shiftedClock()
  const rig = await startRig(t, { clock, replicas: 2 })
  const player_id = 'stopped'
  const dice = await rig.openSession({ player_id })
  const mines = await rig.openSession({ player_id, game: 'mines' })
  const bystander = await rig.openSession({ player_id: 'bystander' })
  const opened = await rig.play(mines, { bet: { mines: 3 }, stake: '2.00' })
  await act(rig, mines, opened.round_id, await safeTile(rig, opened.round_id))

  const stopped = await stop(rig, player_id)
  t.match(stopped, { status: 'IN_FORCE', player_id, reason: 'self-exclusion', until: null, last_bet: null })
  t.equal(await codeOf(rig.play(dice)), 'PLAYER_BLOCKED')
  t.equal(await codeOf(rig.openSession({ player_id })), 'PLAYER_BLOCKED')
  t.same([await statusOf(rig, dice.session_id), await statusOf(rig, mines.session_id)], ['CLOSED', 'CLOSED'])
  t.equal((await rig.play(bystander)).player_id, 'bystander', 'others play on')

  const ended = await waitFor(async () => {
    const round = await rig.round(opened.round_id)
    return round.status === 'SETTLED' ? round : null
  })
  t.match(ended, { end_reason: 'abandoned', payout: '2.25' }, 'cash-out at the multiplier that was reached')

  clock.putForward(farMs)
  const record = await waitFor(async () => {
    const [found] = await stopsOf(rig, player_id)
    return found?.rounds_ended_at === null ? null : found
  })
  t.match(record?.last_bet, { round_id: opened.round_id, session_id: mines.session_id, stake: '2.00' })
})

t.test('the last bet is the last one that was taken, however many were refused since', async (t) => {
  const clock = shiftedClock()
  const rig = await startRig(t, { clock })
  const player_id = 'out of money'
  const session = await rig.openSession({ player_id })
  const { round_id } = await rig.play(session)
  for (let refused = 0; refused < 101; refused++) {
    rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
    t.equal(await codeOf(rig.play(session)), 'INSUFFICIENT_FUNDS')
  }
  await stop(rig, player_id)
  clock.putForward(farMs)
  const record = await waitFor(async () => {
    const [found] = await stopsOf(rig, player_id)
    return found?.rounds_ended_at === null ? null : found
  })
  t.match(record?.last_bet, { round_id })
})

t.test('a round without an action is refunded, and the operator still pays its own rounds', async (t) => {
  const rig = await startRig(t)
  const player_id = 'operated'
  const mines = await rig.openSession({ player_id, game: 'mines' })
  const untouched = await rig.play(mines, { bet: { mines: 3 } })
  const dice = await rig.openSession({ player_id })
  const bet = { type: 'BET', session_id: dice.session_id, amount: '5.00', currency: 'USD' }
  const placed = await transact(rig, { ...bet, transaction_id: 'first' })
  const { round_id } = placed

  await stop(rig, player_id)
  const more = transact(rig, { ...bet, round_id, transaction_id: 'second' })
  t.equal(await codeOf(more), 'PLAYER_BLOCKED')
  const win = { type: 'WIN', round_id, transaction_id: 'win', amount: '7.00', currency: 'USD' }
  t.match(await transact(rig, win), { status: 'SUCCESS', amount: '7.00' })
  t.match(await rig.round(round_id), { status: 'SETTLED', payout: '7.00' })
  const refunded = await waitFor(async () => {
    const round = await rig.round(untouched.round_id)
    return round.status === 'VOIDED' ? round : null
  })
  t.equal(refunded.end_reason, 'abandoned')
})

t.test('a stop is extended, never shortened, ends by time or by being lifted', async (t) => {
  const clock = shiftedClock()
  const rig = await startRig(t, { clock })
  const player_id = 'coming back'
  const inDays = (days: number) => new Date(clock.now().getTime() + days * 24 * farMs).toISOString()
  t.equal(await codeOf(lift(rig, player_id)), 'CONFLICT')
  t.equal(await codeOf(stop(rig, player_id, { until: inDays(-1) })), 'VALIDATION_ERROR')
  const session = await rig.openSession({ player_id })
  const until = inDays(1)
  const first = await stop(rig, player_id, { until })
  t.same(await stop(rig, player_id, { until }), first, 'a repeat is the same stop')
  const longer = inDays(2)
  t.match(await stop(rig, player_id, { until: longer }), { stop_id: first.stop_id, until: longer })
  t.equal(await codeOf(stop(rig, player_id, { until })), 'CONFLICT')

  clock.putForward(25 * farMs)
  t.equal(await codeOf(rig.openSession({ player_id })), 'PLAYER_BLOCKED', 'held to the later end')
  t.equal(await codeOf(rig.play(session)), 'PLAYER_BLOCKED')
  clock.putForward(24 * farMs)
  t.equal((await stopsOf(rig, player_id))[0]?.status, 'OVER')
  t.equal(await codeOf(rig.play(session)), 'SESSION_CLOSED')
  t.equal((await rig.play(await rig.openSession({ player_id }))).player_id, player_id)

  const second = await stop(rig, player_id)
  t.not(second.stop_id, first.stop_id)
  const lifted = await lift(rig, player_id)
  t.match(lifted, { stop_id: second.stop_id, status: 'LIFTED', lift_reason: 'over' })
  t.same(await lift(rig, player_id), lifted, 'lifting again changes nothing')
  t.equal((await rig.play(await rig.openSession({ player_id }))).player_id, player_id)
  t.same(
    (await stopsOf(rig, player_id)).map(({ status }) => status),
    ['LIFTED', 'OVER'],
  )
})

t.test('a stake that had passed its checks before the stop is ended as the open ones are', async (t) => {
  let hold: { seen: () => void; until: Promise<void> } | null = null
  const rig = await startRig(t, {
    hold: async ({ collection, isSorted }) => {
      if (hold === null || collection !== 'rounds' || !isSorted) return
      const { seen, until } = hold
      hold = null
      seen()
      await until
    },
  })
  const player_id = 'in between'
  const session = await rig.openSession({ player_id, game: 'mines' })
  let release = () => {}
  const held = new Promise<void>((seen) => {
    hold = { seen, until: new Promise((done) => (release = done)) }
  })
  const playing = rig.play(session, { bet: { mines: 3 } })
  await held
  await stop(rig, player_id)
  release()
  const { round_id } = await playing
  const ended = await waitFor(
    async () => {
      const round = await rig.round(round_id)
      return round.status === 'VOIDED' ? round : null
    },
    { what: 'the round is ended' },
  )
  t.equal(ended.end_reason, 'abandoned')
})
