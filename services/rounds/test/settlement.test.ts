import { randomUUID } from 'node:crypto'
import { placeMovement } from '@pitboss/contracts/calls/wallet'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import * as playEndpoints from '@pitboss/contracts/endpoints/play'
import * as sessionsEndpoints from '@pitboss/contracts/endpoints/sessions'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { newId } from '@pitboss/runtime/new-id'
import t from 'tap'
import { codeOf, errorOf, safeTile, act, cashOut, type Rig, startRig } from './fixtures/rounds-rig.ts'

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
  t.equal(await codeOf(rig.play(session, { transaction_id: transactionId })), 'WALLET_TIMEOUT')

  await t.test('is played out when the wallet turns out to have taken it', async (t) => {
    rig.wallet.end(rig.scope, transactionId, 'SUCCESS')
    const round = await rig.until(async () => {
      const now = await rig.round(roundId)
      return now.status === 'SETTLED' ? now : null
    })
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

t.test('a lost round is settled as its wallet took losses when the stake was placed', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const hopeless = { bet: { target: '0.01', direction: 'under' } }
  const zeros = () =>
    rig.wallet.asked.filter(({ type, amount }) => type === 'WIN' && amount === '0.00').length
  const lose = async () => {
    while ((await rig.play(session, hopeless)).payout !== '0.00');
  }
  await lose()
  t.equal(zeros(), 0)
  rig.wallet.state.settleLosses = 'zero_credit'
  await lose()
  t.equal(zeros(), 1, 'a change is in force for the next round')

  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const { resource } = await errorOf(rig.play(session, hopeless))
  rig.wallet.state.settleLosses = 'none'
  rig.wallet.end(rig.scope, resource?.transaction_id ?? '', 'SUCCESS')
  const ended = await rig.until(async () => {
    const now = await rig.round(resource?.round_id ?? '')
    return now.status === 'SETTLED' ? now : null
  })
  t.equal(zeros(), ended.payout === '0.00' ? 2 : 1, 'a stake that was placed before keeps what it had')
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
  await rig.until(async () => (await rig.round(opened.round_id)).status === 'SETTLED')
  t.equal((await cashOut(rig, session, opened.round_id)).status, 'SETTLED', 'the repeated action answers')
  t.equal(await codeOf(act(rig, session, opened.round_id, 24)), 'ROUND_ALREADY_SETTLED')
})

t.test('a win that a person has ended as failed is in no payout, event or report', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'mines' })
  const { round_id } = await rig.play(session, { bet: { mines: 1 } })
  await act(rig, session, round_id, await safeTile(rig, round_id))
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const owed = await cashOut(rig, session, round_id)
  t.match(owed, { status: 'SETTLING', payout: '1.03' })
  rig.wallet.end(rig.scope, rig.wallet.asked.at(-1)?.transactionId ?? '', 'FAILED')
  const ended = await rig.until(async () => {
    const now = await rig.round(round_id)
    return now.status === 'SETTLED' ? now : null
  })
  t.match(ended, { payout: '0.00', end_reason: 'win_failed', multiplier: '1.0312', outcome: { won: true } })
  t.ok(verifyRound(ended).valid)
  const told = await rig.until(async () =>
    (await rig.events()).find(({ type, data }) => type === 'round.completed' && data.round_id === round_id),
  )
  t.match(told.data, { payout: '0.00', end_reason: 'win_failed', multiplier: '1.0312' })
  t.ok(verifyRound(told).valid, 'the event verifies by itself')
  t.match(await reportOf(rig), [{ rounds: 1, stakes: '1.00', payouts: '0.00', ggr: '1.00' }])
})

t.test('of the wins of a round of the operator the one that a person has failed is left out', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const transact = async (body: Record<string, unknown>) => {
    const { request } = endpoints.placeTransaction.call
    const parsed = request.parse({ caller: rig.caller(), params: {}, query: {}, body })
    return (await rig.bus.call(endpoints.placeTransaction.call, parsed)).body
  }
  const money = { currency: 'USD' }
  const { round_id } = await transact({
    ...{ type: 'BET', transaction_id: 'bet', session_id: session.session_id, amount: '1.00', ...money },
  })
  const win = { type: 'WIN', round_id, ...money }
  rig.wallet.nextWin({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const first = { ...win, transaction_id: 'first', amount: '7.00', final: false }
  t.equal(await codeOf(transact(first)), 'WALLET_TIMEOUT')
  await transact({ ...win, transaction_id: 'second', amount: '2.00' })
  t.match(await rig.round(round_id), { status: 'SETTLING', payout: '9.00' })
  rig.wallet.end(rig.scope, 'first', 'FAILED')
  const ended = await rig.until(async () => {
    const now = await rig.round(round_id)
    return now.status === 'SETTLED' ? now : null
  })
  t.match(ended, { payout: '2.00', end_reason: 'win_failed' })
  t.match(await reportOf(rig), [{ rounds: 1, stakes: '1.00', payouts: '2.00' }])
})

async function reportOf(rig: Rig) {
  const request = { caller: rig.caller(), params: {}, query: {}, body: undefined }
  return (await rig.bus.call(endpoints.getReport.call, request)).body.data
}

t.test('a credit that takes longer than its caller waits is answered as owed', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'mines' })
  const { round_id } = await rig.play(session, { bet: { mines: 1 } })
  await act(rig, session, round_id, await safeTile(rig, round_id))
  const hanging = Promise.withResolvers<void>()
  rig.wallet.next({ kind: 'hold', until: hanging.promise })
  const request = { caller: rig.playerOf(session), params: { round_id }, query: {}, body: undefined }
  const context = { requestId: 'req_impatient', deadlineAtMs: Date.now() + 2500 }
  const { body } = await rig.bus.call(playEndpoints.cashOut.call, request, context)
  t.equal(body.status, 'SETTLING')
  hanging.resolve()
  await rig.until(async () => (await rig.round(round_id)).status === 'SETTLED')
})

t.test('a round left behind ends in favour of its player', async (t) => {
  const rig = await startRig(t, { timeScale: 600 })
  const session = await rig.openSession({ game: 'mines' })
  const untouched = await rig.play(session, { bet: { mines: 1 } })
  const voided = await rig.until(async () => {
    const now = await rig.round(untouched.round_id)
    return now.status === 'VOIDED' ? now : null
  })
  t.match(voided, { payout: '0.00', end_reason: 'abandoned', outcome: null })
  t.same(
    rig.wallet.asked.map(({ type }) => type),
    ['BET', 'REFUND'],
  )
  const begun = await rig.play(session, { bet: { mines: 1 } })
  await act(rig, session, begun.round_id, await safeTile(rig, begun.round_id))
  await rig.bus.call(sessionsEndpoints.closeSession.call, {
    caller: rig.caller(),
    params: { session_id: session.session_id },
    query: {},
    body: undefined,
  })
  const paid = await rig.until(async () => {
    const now = await rig.round(begun.round_id)
    return now.status === 'SETTLED' ? now : null
  })
  t.match(paid, { payout: '1.03', end_reason: 'abandoned' })
  t.equal(await codeOf(rig.play(session)), 'SESSION_CLOSED')
})

t.test("a round never lives on another round's stake that has the same id", async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  rig.wallet.next({ kind: 'lost' })
  const { resource } = await errorOf(rig.play(session, { transaction_id: 'twin' }))
  const { round_id: roundId = '', transaction_id: transactionId = '' } = resource ?? {}
  await rig.bus.call(placeMovement, {
    scope: rig.scope,
    spec: {
      transactionId,
      type: 'BET',
      amount: '1.00',
      currency: 'USD',
      playerId: 'somebody else',
      sessionId: newId('ses'),
      roundId: newId('rnd'),
      walletRoundId: randomUUID(),
      walletGameId: randomUUID(),
      game: 'dice',
      brandId: null,
      freeBet: false,
      roundClosed: false,
      driver: 'game',
      referenceTransactionId: null,
      callWallet: null,
      requestHash: 'the same',
    },
  })
  t.equal(await codeOf(rig.play(session, { transaction_id: 'twin' })), 'TRANSACTION_CONFLICT')
  const ended = await rig.until(async () => {
    const now = await rig.round(roundId)
    return now.status === 'PENDING' ? null : now
  })
  t.match(ended, { status: 'VOIDED', payout: '0.00', outcome: null, end_reason: 'stake_not_taken' })
  t.notOk(rig.wallet.asked.some(({ type }) => type === 'WIN'))
  t.equal((await rig.play(session)).status, 'SETTLED', 'the next round may begin')
})
