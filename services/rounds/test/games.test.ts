import { opsSetGame, opsSetGameLimits } from '@pitboss/contracts/calls/rounds'
import * as sessionsEndpoints from '@pitboss/contracts/endpoints/sessions'
import * as roundsEndpoints from '@pitboss/contracts/endpoints/rounds'
import * as playEndpoints from '@pitboss/contracts/endpoints/play'
import type { ServiceError } from '@pitboss/errors/service-error'
import { serveApprovals } from '@pitboss/testing/serve-approvals'
import { pino } from 'pino'
import t from 'tap'
import { codeOf, errorOf, startRig } from './fixtures/rounds-rig.ts'

const none = { params: {}, query: {}, body: undefined }

t.test('the catalogue', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  await serveApprovals(t, rig.bus, pino({ level: 'silent' }))
  const list = await rig.bus.call(sessionsEndpoints.listGames.call, {
    caller: rig.caller(),
    params: {},
    query: { limit: 50 },
    body: undefined,
  })
  t.same(
    list.body.data.map(({ slug, enabled, status, rtp }) => ({ slug, enabled, status, rtp })),
    ['dice', 'mines', 'spin-bottle'].map((slug) => ({
      slug,
      enabled: true,
      status: 'AVAILABLE',
      rtp: '0.9900',
    })),
  )
  const patch = async (body: Record<string, unknown>) => {
    const request = { caller: rig.caller(), params: { slug: 'dice' }, query: {}, body }
    return (await rig.bus.call(sessionsEndpoints.patchGame.call, request)).body
  }
  const usd = { currency: 'USD', min_stake: '1.00', max_stake: '2.00' }
  const session = await rig.openSession()
  t.match((await patch({ limits: [usd] })).limits, [{ ...usd, max_payout: '100000.00' }])
  t.equal(await codeOf(rig.play(session, { stake: '0.99' })), 'BET_LIMIT_EXCEEDED')
  t.equal((await rig.play(session, { stake: '2.00' })).status, 'SETTLED')
  const bad = await errorOf(patch({ limits: [{ ...usd, min_stake: '3.00' }] }))
  t.equal(bad.details?.[0]?.path, 'limits.0.min_stake')
  t.equal(await codeOf(patch({ limits: [{ ...usd, currency: 'GBP' }] })), 'CURRENCY_NOT_SUPPORTED')

  t.equal((await patch({ enabled: false })).enabled, false)
  t.equal(await codeOf(rig.play(session)), 'GAME_NOT_ENABLED')
  t.equal(await codeOf(rig.openSession()), 'GAME_NOT_ENABLED')
  await patch({ enabled: true })

  const order = { by: 'tester', reason: null, dryRun: false }
  await rig.bus.call(opsSetGame, { order, slug: 'dice', status: 'DOWN' })
  const codes = await Promise.all(Array.from({ length: 8 }, () => codeOf(rig.openSession())))
  t.strictSame([...new Set(codes)], ['GAME_UNAVAILABLE'], 'in every replica')
})

t.test('what is answered about a game is in force in every replica', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  await serveApprovals(t, rig.bus, pino({ level: 'silent' }))
  const sessions = await Promise.all(Array.from({ length: 8 }, () => rig.openSession()))
  const play = async () => {
    const answers = sessions.map((session) =>
      rig.play(session).then(
        ({ status }) => status,
        (error: ServiceError) => error.code,
      ),
    )
    return [...new Set(await Promise.all(answers))]
  }
  const patch = (body: Record<string, unknown>) => {
    const request = { caller: rig.caller(), params: { slug: 'dice' }, query: {}, body }
    return rig.bus.call(sessionsEndpoints.patchGame.call, request)
  }
  const order = { by: 'tester', reason: null, dryRun: false }
  for (let times = 0; times < 3; times++) {
    t.strictSame(await play(), ['SETTLED'])
    await patch({ enabled: false })
    t.strictSame(await play(), ['GAME_NOT_ENABLED'])
    await patch({ enabled: true })
    t.strictSame(await play(), ['SETTLED'])
    await rig.bus.call(opsSetGame, { order, slug: 'dice', status: 'DOWN' })
    t.strictSame(await play(), ['GAME_UNAVAILABLE'])
    await rig.bus.call(opsSetGame, { order, slug: 'dice', status: 'AVAILABLE' })
  }
})

t.test('a session that was closed takes no stake in any replica', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  for (let times = 0; times < 5; times++) {
    const session = await rig.openSession()
    t.equal((await rig.play(session)).status, 'SETTLED')
    await rig.bus.call(sessionsEndpoints.closeSession.call, {
      ...{ caller: rig.caller(), query: {}, body: undefined },
      params: { session_id: session.session_id },
    })
    const codes = await Promise.all(Array.from({ length: 8 }, () => codeOf(rig.play(session))))
    t.strictSame([...new Set(codes)], ['SESSION_CLOSED'])
  }
})

t.test('settings of an earlier release are read, and keep what they lack', async (t) => {
  const rig = await startRig(t)
  const usd = { currency: 'USD', minStake: '100', maxStake: '200' }
  const settings = { version: 3, enabled: true, limits: [usd], updatedAt: new Date() }
  const _id = `${rig.scope.operatorId}/spin-bottle`
  await rig.storage.db.collection<{ _id: string }>('game_settings').insertOne({ _id, ...settings })
  const change = async (limits: { currency: string; min_stake: string; max_stake: string }[]) => {
    const request = { caller: rig.caller(), params: { slug: 'spin-bottle' }, query: {}, body: { limits } }
    return (await rig.bus.call(sessionsEndpoints.patchGame.call, request)).body.limits[0]
  }
  const narrow = { currency: 'USD', min_stake: '1.00', max_stake: '2.00' }
  t.match(await change([]), { ...narrow, max_payout: '100000.00', rtp_at_min_stake: '0.9900' })
  t.match(await change([{ ...narrow, max_stake: '3.00' }]), { max_stake: '3.00', max_payout: '100000.00' })
  const [stored] = await rig.storage.db.collection('game_settings').find({}).toArray()
  t.same(stored?.limits, [{ ...usd, maxStake: '300' }], 'as an earlier release writes it')
})

t.test('an account lowers its greatest payout, and operations move its limits', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const call = async (body: Record<string, unknown>) => {
    const request = { caller: rig.caller(), params: { slug: 'dice' }, query: {}, body }
    const [usd] = (await rig.bus.call(sessionsEndpoints.patchGame.call, request)).body.limits
    return usd
  }
  const transact = async (body: Record<string, unknown>) => {
    const { request } = roundsEndpoints.placeTransaction.call
    const parsed = request.parse({
      caller: rig.caller(),
      params: {},
      query: {},
      body: { currency: 'USD', ...body },
    })
    return (await rig.bus.call(roundsEndpoints.placeTransaction.call, parsed)).body
  }
  const stakes = { currency: 'USD', min_stake: '0.10', max_stake: '1000.00' }
  const session = await rig.openSession()
  const bet = { type: 'BET', session_id: session.session_id, amount: '1.00' }
  const win = async (round_id: string, id: string, amount: string, final = false) =>
    transact({ type: 'WIN', transaction_id: id, round_id, amount, final })
  const before = await transact({ ...bet, transaction_id: 'before' })

  t.match(await call({ limits: [{ ...stakes, max_payout: '50.00' }] }), { max_payout: '50.00' })
  const even = { target: '50.00', direction: 'under' }
  const other = await rig.openSession({ player_id: 'other' })
  t.equal(await codeOf(rig.play(other, { stake: '26.00', bet: even })), 'BET_LIMIT_EXCEEDED')
  t.equal((await rig.play(other, { stake: '25.00', bet: even })).status, 'SETTLED')
  t.equal(
    (await win(before.round_id, 'w0', '50.01', true)).status,
    'SUCCESS',
    'a round that was open keeps its own',
  )
  const held = await transact({ ...bet, transaction_id: 'held' })
  await win(held.round_id, 'w1', '30.00')
  const beyond = await errorOf(win(held.round_id, 'w2', '20.01'))
  t.match(beyond, { code: 'BET_LIMIT_EXCEEDED', retryable: false })
  t.match(beyond.message, /^The wins of the round would be above 50\.00 USD/)
  t.equal(await codeOf(win(held.round_id, 'w3', '20.01', true)), 'BET_LIMIT_EXCEEDED')
  t.equal((await win(held.round_id, 'w4', '20.00', true)).status, 'SUCCESS')
  t.match(await rig.round(held.round_id), { status: 'SETTLED', payout: '50.00' })

  t.match(
    await call({ limits: [{ ...stakes, max_stake: '40.00' }] }),
    { max_payout: '50.00' },
    'left out, it stays',
  )
  const path = async (more: Record<string, unknown>) =>
    (await errorOf(call({ limits: [{ ...stakes, ...more }] }))).details?.[0]?.path
  t.equal(await path({ max_payout: '100000.01' }), 'limits.0.max_payout')
  t.equal(await path({ max_payout: '0.10' }), 'limits.0.max_payout')

  const order = { by: 'tester', reason: 'agreed', dryRun: false }
  const byOperations = async (limits: Record<string, string> | null, more = {}) => {
    const asked = { order, operatorId: rig.scope.operatorId, slug: 'dice', currency: 'USD', limits, ...more }
    return (await rig.bus.call(opsSetGameLimits, asked)).limits[0]
  }
  await byOperations({ max_stake: '5000.00', max_payout: '500000.00' }, { order: { ...order, dryRun: true } })
  t.equal(await path({ max_stake: '5000.00' }), 'limits.0.max_stake', 'a dry run changes nothing')
  await byOperations({ min_stake: '0.50', max_stake: '5000.00', max_payout: '500000.00' })
  t.equal(await path({ min_stake: '0.10' }), 'limits.0.min_stake', 'narrower at one end')
  const wide = { min_stake: '0.50', max_stake: '5000.00', max_payout: '500000.00' }
  t.match(await call({ limits: [{ currency: 'USD', ...wide }] }), wide, 'wider at the others')
  const free = await transact({ ...bet, transaction_id: 'free', amount: '5000.00' })
  t.equal((await win(free.round_id, 'w5', '500000.01', true)).status, 'SUCCESS', 'nothing is lowered')
  t.match(await byOperations(null), { min_stake: '0.50', max_stake: '1000.00', max_payout: '100000.00' })
  t.equal(
    (await errorOf(byOperations({ min_stake: '9.00', max_stake: '8.00' }))).details?.[0]?.path,
    'min_stake',
  )
})

t.test('the nonce book shows every commitment and its end', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  await rig.play(session, { client_seed: 'mine' })
  rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
  await codeOf(rig.play(session))
  await rig.bus.call(playEndpoints.getPlayerSession.call, { ...none, caller: rig.playerOf(session) })
  const request = { caller: rig.playerOf(session), params: {}, query: { limit: 50 }, body: undefined }
  const book = (await rig.bus.call(playEndpoints.getFairnessBook.call, request)).body.data
  t.match(book, [
    { nonce: 3, server_seed: null, round_id: null, status: null },
    { nonce: 2, server_seed: /^[0-9a-f]{64}$/, status: 'FAILED' },
    { nonce: 1, server_seed: /^[0-9a-f]{64}$/, status: 'SETTLED', client_seed: 'mine' },
  ])
})
