import { opsSetGame } from '@pitboss/contracts/calls/rounds'
import * as sessionsEndpoints from '@pitboss/contracts/endpoints/sessions'
import * as playEndpoints from '@pitboss/contracts/endpoints/play'
import { serveApprovals } from '@pitboss/testing/serve-approvals'
import { waitFor } from '@pitboss/testing/wait-for'
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
  await waitFor(
    async () => {
      const codes = await Promise.all(
        Array.from({ length: 6 }, () => codeOf(rig.openSession()).catch(() => 'opened')),
      )
      return codes.every((code) => code === 'GAME_UNAVAILABLE')
    },
    { timeoutMs: 2000, what: 'every replica knows it' },
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
