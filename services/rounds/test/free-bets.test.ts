import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import t from 'tap'
import { codeOf, errorOf, startRig } from './fixtures/rounds-rig.ts'

const none = { params: {}, query: {}, body: undefined }

t.test('free bets', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const session = await rig.openSession()
  const grant = async (body: Record<string, unknown> = {}) => {
    const request = {
      caller: rig.caller(),
      params: {},
      query: {},
      body: {
        player_id: session.player_id,
        game: 'dice',
        currency: 'USD',
        stake: '1.00',
        count: 1,
        ...body,
      },
    }
    return (await rig.bus.call(endpoints.createFreeBet.call, request)).body
  }
  const free = (more: Record<string, unknown> = {}) => rig.play(session, { free_bet: true, ...more })
  const path = async (promise: Promise<unknown>) => (await errorOf(promise)).details?.[0]?.path
  t.equal(await path(free()), 'free_bet')

  const first = await grant({ count: 2 })
  t.equal(await path(free({ stake: '2.00' })), 'stake')
  const round = await free()
  t.match(round, { status: 'SETTLED', free_bet: true, stake: '1.00' })
  const won = round.payout !== '0.00'
  t.same(
    rig.wallet.asked.map(({ type, freeBet }) => ({ type, freeBet })),
    won ? [{ type: 'WIN', freeBet: true }] : [],
    'no debit; a win is one credit',
  )
  const lost = await free({ bet: { target: '0.01', direction: 'under' } })
  t.equal(lost.payout, '0.00')
  t.equal(rig.wallet.asked.length, won ? 1 : 0, 'a loss makes no wallet call')

  const show = async (grant_id: string) => {
    const request = { caller: rig.caller(), params: { grant_id }, query: {}, body: undefined }
    return (await rig.bus.call(endpoints.getFreeBet.call, request)).body
  }
  t.match(await show(first.grant_id), { status: 'EXHAUSTED', remaining: 0 })
  t.equal(await codeOf(show('frb_none')), 'NOT_FOUND')

  const single = await grant()
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => free()))
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1, 'one use is spent once')
  t.equal((await show(single.grant_id)).remaining, 0)

  const cancelled = await grant()
  const cancel = (grant_id: string) =>
    rig.bus.call(endpoints.cancelFreeBet.call, { ...none, caller: rig.caller(), params: { grant_id } })
  t.equal((await cancel(cancelled.grant_id)).body.status, 'CANCELLED')
  t.equal((await cancel(cancelled.grant_id)).body.status, 'CANCELLED')
  t.equal(await codeOf(cancel(single.grant_id)), 'CONFLICT')
  t.equal(await path(free()), 'free_bet')
  t.equal(await path(grant({ expires_at: '2020-01-01T00:00:00.000Z' })), 'expires_at')
})
