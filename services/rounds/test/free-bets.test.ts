import type { Caller } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import t from 'tap'
import { codeOf, errorOf, startRig } from './fixtures/rounds-rig.ts'
const none = { params: {}, query: {}, body: undefined }

t.test('a reference makes one grant, for ever', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const body = {
    player_id: 'p',
    game: 'dice',
    currency: 'USD',
    stake: '1.00',
    count: 2,
    reference: 'spring/p',
  }
  const grant = async (more: Record<string, unknown> = {}, caller: Partial<Caller> = {}) => {
    const { request } = endpoints.createFreeBet.call
    const asked = {
      caller: { ...rig.caller(), ...caller },
      params: {},
      query: {},
      body: { ...body, ...more },
    }
    return (await rig.bus.call(endpoints.createFreeBet.call, request.parse(asked))).body
  }
  const made = await Promise.all(Array.from({ length: 8 }, () => grant()))
  t.same(new Set(made.map(({ grant_id }) => grant_id)).size, 1, 'requests at once on two replicas')
  const [first] = made
  t.equal(first?.reference, 'spring/p')
  t.same(await grant({ stake: '1' }), first, 'written otherwise')
  t.same(await grant({}, { idempotencyKey: 'tomorrow' }), first, 'under a key of its own')
  const keyed = { idempotencyKey: 'tomorrow' }
  t.equal(
    await codeOf(grant({ reference: 'spring/r' }, keyed)),
    'CONFLICT',
    'which is of that body from then on',
  )
  const others = [{ player_id: 'q' }, { count: 3 }, { stake: '2.00' }, { game: 'mines' }, { currency: 'EUR' }]
  for (const other of [...others, { expires_at: '2030-01-01T00:00:00Z' }]) {
    t.equal(await codeOf(grant(other)), 'CONFLICT', JSON.stringify(other))
  }
  const params = { grant_id: first?.grant_id ?? '' }
  await rig.bus.call(endpoints.cancelFreeBet.call, { ...none, caller: rig.caller(), params })
  t.match(await grant(), { grant_id: params.grant_id, status: 'CANCELLED' }, 'cancelled, and not made again')
  const live = { operatorId: rig.scope.operatorId, environment: 'LIVE' } as const
  t.not((await grant({}, { scope: live })).grant_id, params.grant_id, 'of another environment')
  t.not((await grant({ reference: 'spring/q' })).grant_id, params.grant_id)
})

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
