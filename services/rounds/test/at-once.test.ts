import * as playEndpoints from '@pitboss/contracts/endpoints/play'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import t from 'tap'
import { act, errorOf, type Rig, safeTile, startRig } from './fixtures/rounds-rig.ts'

const atOnce = { requestId: 'req', atOnce: true }

function place(rig: Rig, body: TransactionBody, context?: typeof atOnce) {
  const request = { caller: rig.caller(), params: {}, query: {}, body }
  return rig.bus.call(endpoints.placeTransaction.call, request, context)
}

t.test('settlement that is not to be waited for is stored, and paid in the end', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const bet = { type: 'BET', transaction_id: 'b', session_id: session.session_id } as const
  const { body: stake } = await place(rig, { ...bet, amount: '1.00', currency: 'USD' })
  const roundId = stake.round_id ?? ''
  const asked = rig.wallet.asked.length
  const win = {
    type: 'WIN',
    transaction_id: 'w',
    round_id: roundId,
    amount: '2.00',
    currency: 'USD',
  } as const
  const resource = { round_id: roundId, transaction_id: 'w' }
  t.match(await errorOf(place(rig, { ...win, final: true }, atOnce)), { code: 'WALLET_TIMEOUT', resource })
  t.equal(rig.wallet.asked.length, asked, 'nobody waited for the wallet')
  t.equal((await rig.round(roundId)).status, 'SETTLING')
  t.match(await errorOf(place(rig, { ...win, final: true }, atOnce)), { code: 'WALLET_TIMEOUT', resource })
  await rig.until(async () => (await rig.round(roundId)).status === 'SETTLED')
  t.match(await place(rig, { ...win, final: true }), { status: 200, body: { status: 'SUCCESS' } })
})

t.test('a cash-out and a void that are not to be waited for name what is owed', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'mines' })
  const opened = await rig.play(session, { bet: { mines: 1 } })
  await act(rig, session, opened.round_id, await safeTile(rig, opened.round_id))
  const request = { params: { round_id: opened.round_id }, query: {}, body: undefined }
  const cashOut = () =>
    rig.bus.call(playEndpoints.cashOut.call, { ...request, caller: rig.playerOf(session) }, atOnce)
  const owed = await errorOf(cashOut())
  t.match(owed, { code: 'WALLET_TIMEOUT', resource: { round_id: opened.round_id } })
  t.match(owed.resource?.transaction_id, /^win_/)
  await rig.until(async () => (await rig.round(opened.round_id)).status === 'SETTLED')
  t.match(await cashOut(), { body: { status: 'SETTLED', payout: '1.03' } })

  const other = await rig.openSession()
  rig.wallet.next({ kind: 'pending', code: 'WALLET_UNAVAILABLE' })
  const stake = (await errorOf(rig.play(other))).resource
  const held = Promise.withResolvers<void>()
  rig.wallet.next({ kind: 'hold', until: held.promise })
  const voided = { ...request, params: { round_id: stake?.round_id ?? '' }, caller: rig.caller() }
  const failed = await errorOf(rig.bus.call(endpoints.voidRound.call, voided, atOnce))
  t.match(failed, { code: 'WALLET_TIMEOUT', resource: stake })
  held.resolve()
})
