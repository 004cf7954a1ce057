import type { WantedLimit } from '@pitboss/contracts/objects/player-limits'
import * as playerEndpoints from '@pitboss/contracts/endpoints/players'
import * as playEndpoints from '@pitboss/contracts/endpoints/play'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { act, bombTile, codeOf, errorOf, type Rig, startRig } from './fixtures/rounds-rig.ts'

const dayMs = 86_400_000
const noon = Date.parse('2026-11-25T12:00:00.000Z')
const sure = { bet: { target: '98.00', direction: 'under' } }

const loss = (amount: string): WantedLimit => ({ kind: 'loss', period: 'day', currency: 'USD', amount })
const turnover = (amount: string): WantedLimit => ({ kind: 'stake', period: 'day', currency: 'USD', amount })

async function put(rig: Rig, player_id: string, limits: WantedLimit[]) {
  const request = { caller: rig.caller(), params: { player_id }, query: {}, body: { limits } }
  return (await rig.bus.call(playerEndpoints.putLimits.call, request)).body
}
async function limitsOf(rig: Rig, player_id: string) {
  const request = { caller: rig.caller(), params: { player_id }, query: {}, body: undefined }
  return (await rig.bus.call(playerEndpoints.getLimits.call, request)).body
}
async function transact(rig: Rig, body: Record<string, unknown>) {
  const { request } = endpoints.placeTransaction.call
  const parsed = request.parse({ caller: rig.caller(), params: {}, query: {}, body })
  return (await rig.bus.call(endpoints.placeTransaction.call, parsed)).body
}

/** A clock that begins at noon, so that no day ends during a test, and that a test can put forward. */
function shiftedClock() {
  let aheadMs = noon - Date.now()
  return {
    now: () => new Date(Date.now() + aheadMs),
    putForward: (ms: number) => {
      aheadMs += ms
    },
  }
}

t.test('a stake beyond a limit is refused in every game and session, and leaves nothing', async (t) => {
  const clock = shiftedClock()
  const rig = await startRig(t, { clock, replicas: 2 })
  const player_id = 'limited'
  const before = await rig.openSession({ player_id })
  const mines = await rig.openSession({ player_id, game: 'mines' })
  const set = await put(rig, player_id, [turnover('5.00')])
  t.match(set, {
    player_id,
    limits: [{ kind: 'stake', amount: '5.00', used: '0.00', left: '5.00', next: null }],
  })
  t.match(set.limits, [{ from: '2026-11-25T00:00:00.000Z', resets_at: '2026-11-26T00:00:00.000Z' }])
  const after = await rig.openSession({ player_id, game: 'spin-bottle' })

  await rig.play(before, { stake: '2.00', ...sure })
  await rig.play(mines, { stake: '2.00' })
  const [asked, rounds] = [
    rig.wallet.asked.length,
    await rig.storage.db.collection('rounds').countDocuments(),
  ]
  const refused = await errorOf(rig.play(after, { stake: '1.01', transaction_id: 'beyond' }))
  t.match(refused, { code: 'BET_LIMIT_EXCEEDED', retryable: false })
  t.match(
    refused.message,
    /^The stake limit of this player is 5\.00 USD a day; 1\.00 USD left until 2026-11-26T/,
  )
  t.match(refused.details, [{ path: 'limits.stake.day' }])
  t.equal(rig.wallet.asked.length, asked, 'no movement')
  t.equal(await rig.storage.db.collection('rounds').countDocuments({ nonce: { $gt: 0 } }), rounds, 'no round')

  t.match(await rig.play(after, { stake: '1.00' }), { fairness: { nonce: 1 } }, 'what is left can be staked')
  t.equal(await codeOf(rig.play(before, { stake: '1.00' })), 'BET_LIMIT_EXCEEDED')
  const bet = { type: 'BET', session_id: before.session_id, amount: '0.10', currency: 'USD' }
  t.equal(
    await codeOf(transact(rig, { ...bet, transaction_id: 'op' })),
    'BET_LIMIT_EXCEEDED',
    'nor the operator',
  )
  t.match(await limitsOf(rig, player_id), { limits: [{ used: '5.00', left: '0.00' }] })
  const other = await rig.openSession({ player_id: 'other' })
  t.ok(await rig.play(other, { stake: '9.00' }))

  clock.putForward(dayMs)
  t.match(await limitsOf(rig, player_id), { limits: [{ used: '0.00', left: '5.00' }] }, 'a day later')
})

t.test('of stakes at once on two replicas no more are taken than the limit allows', async (t) => {
  const clock = shiftedClock()
  const rig = await startRig(t, { clock, replicas: 2 })
  const player_id = 'racing'
  // Of what was staked, whatever is won: a win makes room under a limit of losses.
  await put(rig, player_id, [turnover('2.50')])
  const games = ['dice', 'mines', 'spin-bottle']
  const sessions = await Promise.all(games.map((game) => rig.openSession({ player_id, game })))
  const bets = [{ target: '0.01', direction: 'under' }, { mines: 1 }, { pick: 0, sectors: 12 }]
  const answers = await Promise.allSettled(
    sessions.map((session, at) => rig.play(session, { bet: bets[at] ?? {} })),
  )
  const taken = rig.wallet.asked.filter(({ type }) => type === 'BET')
  t.equal(taken.length, 2, 'the wallet was asked for two')
  const codes = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
  t.same(codes, ['BET_LIMIT_EXCEEDED'])
  const unfinished = await rig.storage.db.collection('rounds').countDocuments({ status: 'PENDING' })
  t.equal(unfinished, 0, 'the intent of the third was taken back')
})

t.test('a stake that was never taken leaves the limit as it was', async (t) => {
  const rig = await startRig(t, { clock: shiftedClock() })
  const player_id = 'refused'
  await put(rig, player_id, [loss('1.00')])
  const session = await rig.openSession({ player_id })
  rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
  t.equal(await codeOf(rig.play(session)), 'INSUFFICIENT_FUNDS')
  rig.wallet.next({ kind: 'unwritten', code: 'WALLET_UNAVAILABLE' })
  t.equal(await codeOf(rig.play(session)), 'WALLET_UNAVAILABLE')
  t.match(await limitsOf(rig, player_id), { limits: [{ used: '0.00', left: '1.00' }] })
  t.ok(await rig.play(session, sure))
})

t.test('a loss is what was staked less what was won', async (t) => {
  const rig = await startRig(t, { clock: shiftedClock() })
  const player_id = 'losing'
  await put(rig, player_id, [loss('3.00'), turnover('100.00')])
  const mines = await rig.openSession({ player_id, game: 'mines' })
  const opened = await rig.play(mines, { stake: '2.00' })
  t.match(
    await limitsOf(rig, player_id),
    { limits: [{ used: '2.00', left: '1.00' }, { used: '2.00' }] },
    'open',
  )
  await act(rig, mines, opened.round_id, await bombTile(rig, opened.round_id))
  t.match(await limitsOf(rig, player_id), { limits: [{ used: '2.00' }, {}] }, 'lost')
  const dice = await rig.openSession({ player_id })
  t.equal(await codeOf(rig.play(dice, { stake: '1.01' })), 'BET_LIMIT_EXCEEDED')
  const bet = { type: 'BET', session_id: dice.session_id, amount: '1.00', currency: 'USD' }
  const { round_id } = await transact(rig, { ...bet, transaction_id: 'bet' })
  const win = { type: 'WIN', round_id, transaction_id: 'win', amount: '2.50', currency: 'USD' }
  await transact(rig, win)
  t.match(await limitsOf(rig, player_id), { limits: [{ used: '0.50', left: '2.50' }, { used: '3.00' }] })
  t.ok(await rig.play(dice, { stake: '2.50', ...sure }))
})

t.test('a limit of time refuses stakes and free bets once it is used up', async (t) => {
  const clock = shiftedClock()
  const rig = await startRig(t, { clock })
  const player_id = 'timed'
  const first = await rig.openSession({ player_id, expires_in_s: 86_400 })
  const second = await rig.openSession({ player_id, game: 'mines', expires_in_s: 86_400 })
  await put(rig, player_id, [{ kind: 'time', period: 'day', minutes: 30 }])
  const free = { player_id, game: 'dice', currency: 'USD', stake: '1.00', count: 1 }
  await rig.bus.call(endpoints.createFreeBet.call, {
    caller: rig.caller(),
    params: {},
    query: {},
    body: free,
  })
  clock.putForward(29 * 60_000)
  t.match(await limitsOf(rig, player_id), { limits: [{ kind: 'time', used_minutes: 29, left_minutes: 1 }] })
  const opened = await rig.play(second)
  clock.putForward(60_000)
  const refused = await errorOf(rig.play(first, { free_bet: true }))
  t.match(refused, { code: 'BET_LIMIT_EXCEEDED', details: [{ path: 'limits.time.day' }] })
  t.match(refused.message, /^The time limit of this player is 30 minutes a day; none left/)
  t.equal(await codeOf(rig.play(first)), 'BET_LIMIT_EXCEEDED')
  const ended = await act(rig, second, opened.round_id, await bombTile(rig, opened.round_id))
  t.equal(ended.status, 'SETTLED', 'an open round can be finished')
})

t.test('limits are lowered at once and raised after a day', async (t) => {
  const clock = shiftedClock()
  const rig = await startRig(t, { clock })
  const player_id = 'changing'
  await put(rig, player_id, [turnover('5.00')])
  const session = await rig.openSession({ player_id, expires_in_s: 86_400 })
  t.match(await put(rig, player_id, [turnover('9.00')]), {
    limits: [{ amount: '5.00', next: { amount: '9.00' } }],
  })
  t.equal(await codeOf(rig.play(session, { stake: '6.00' })), 'BET_LIMIT_EXCEEDED')
  clock.putForward(dayMs)
  const next = await rig.openSession({ player_id })
  t.ok(await rig.play(next, { stake: '6.00', ...sure }))
  t.match(await put(rig, player_id, []), { limits: [{ amount: '9.00', next: { amount: null } }] })
  t.equal(await codeOf(rig.play(next, { stake: '4.00' })), 'BET_LIMIT_EXCEEDED')
  clock.putForward(dayMs)
  const record = await limitsOf(rig, player_id)
  t.same(record.limits, [])
  t.match(record.changes, [
    { limits: [] },
    { limits: [{ amount: '9.00' }] },
    { limits: [{ amount: '5.00' }] },
  ])
  t.equal(await codeOf(put(rig, player_id, [loss('1.00'), loss('2.00')])), 'VALIDATION_ERROR')
  t.equal(await codeOf(put(rig, player_id, [loss('1.001')])), 'VALIDATION_ERROR')
  t.equal(
    await codeOf(put(rig, player_id, [{ ...turnover('1'), currency: 'XAG' } as WantedLimit])),
    'CURRENCY_NOT_SUPPORTED',
  )
})

t.test('a free bet costs no limit of money', async (t) => {
  const rig = await startRig(t, { clock: shiftedClock() })
  const player_id = 'free'
  await put(rig, player_id, [turnover('0.00')])
  const session = await rig.openSession({ player_id })
  const free = { player_id, game: 'dice', currency: 'USD', stake: '1.00', count: 1 }
  await rig.bus.call(endpoints.createFreeBet.call, {
    caller: rig.caller(),
    params: {},
    query: {},
    body: free,
  })
  t.ok(await rig.play(session, { free_bet: true }))
  t.equal(await codeOf(rig.play(session)), 'BET_LIMIT_EXCEEDED')
})

t.test('of an open round of the operator each further stake is held against the limit', async (t) => {
  const rig = await startRig(t, { clock: shiftedClock() })
  const player_id = 'operated'
  await put(rig, player_id, [turnover('3.00')])
  const session = await rig.openSession({ player_id })
  const bet = { type: 'BET', session_id: session.session_id, amount: '2.00', currency: 'USD' }
  const { round_id } = await transact(rig, { ...bet, transaction_id: 'one' })
  t.equal(await codeOf(transact(rig, { ...bet, round_id, transaction_id: 'two' })), 'BET_LIMIT_EXCEEDED')
  t.ok(await transact(rig, { ...bet, round_id, transaction_id: 'three', amount: '1.00' }))
  await transact(rig, { type: 'ROLLBACK', transaction_id: 'back', reference_transaction_id: 'one' })
  t.match(await limitsOf(rig, player_id), { limits: [{ used: '1.00' }] }, 'what was given back is free again')
})

t.test('a stake that is added again after a refusal that may be repeated counts once', async (t) => {
  const rig = await startRig(t, { clock: shiftedClock() })
  const player_id = 'again'
  await put(rig, player_id, [turnover('5.00')])
  const session = await rig.openSession({ player_id })
  const bet = { type: 'BET', session_id: session.session_id, amount: '1.00', currency: 'USD' }
  const { round_id } = await transact(rig, { ...bet, transaction_id: 'one' })
  const added = { ...bet, round_id, transaction_id: 'two' }
  for (let tried = 0; tried < 3; tried++) {
    rig.wallet.next({ kind: 'unwritten', code: 'WALLET_UNAVAILABLE' })
    t.match(await errorOf(transact(rig, added)), { code: 'WALLET_UNAVAILABLE', retryable: true })
  }
  await transact(rig, added)
  t.match(await limitsOf(rig, player_id), { limits: [{ used: '2.00', left: '3.00' }] })
  t.ok(
    await transact(rig, { ...added, transaction_id: 'three', amount: '3.00' }),
    'what is left can be staked',
  )
})

t.test('a session that was opened while the first limit was being set is held by it', async (t) => {
  const rig = await startRig(t, { clock: shiftedClock(), replicas: 2 })
  for (let turn = 0; turn < 5; turn++) {
    const player_id = `meeting ${turn}`
    const [session] = await Promise.all([
      rig.openSession({ player_id }),
      put(rig, player_id, [turnover('0.50')]),
    ])
    const code = await waitFor(() => codeOf(rig.play(session)))
    t.equal(code, 'BET_LIMIT_EXCEEDED')
  }
  const shown = await rig.bus.call(playEndpoints.getPlayerSession.call, {
    caller: rig.playerOf(await rig.openSession({ player_id: 'meeting 0' })),
    params: {},
    query: {},
    body: undefined,
  })
  t.notOk('limited' in shown.body.session, 'no record shows the mark')
})
