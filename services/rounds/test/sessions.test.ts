import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import type { Account, Caller } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import * as sessionsEndpoints from '@pitboss/contracts/endpoints/sessions'
import * as playEndpoints from '@pitboss/contracts/endpoints/play'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { brandId, codeOf, errorOf, startRig } from './fixtures/rounds-rig.ts'

const none = { params: {}, query: {}, body: undefined }

t.test('sessions', async (t) => {
  const rig = await startRig(t)
  const open = (body: Record<string, unknown>, more?: Partial<Caller>) => rig.openSession(body, more)

  await t.test('are refused in the documented way', async (t) => {
    t.match(await errorOf(open({ game: 'poker' })), {
      code: 'GAME_NOT_FOUND',
      message: 'There is no such game. Games: dice, mines, spin-bottle.',
    })
    t.equal(await codeOf(open({ currency: 'GBP' })), 'CURRENCY_NOT_SUPPORTED')
    t.equal(await codeOf(open({ brand: 'brd_01jd5r7mq8v3k9x2c4n6p0s1tx' })), 'BRAND_NOT_FOUND')
    const { details } = await errorOf(open({ limits: { min_stake: '0.001' } }))
    t.equal(details?.[0]?.path, 'limits.min_stake')
    const empty = await errorOf(open({ limits: { min_stake: '2000.00' } }))
    t.equal(empty.details?.[0]?.path, 'limits.min_stake')
  })

  await t.test('are opened once under one idempotency key', async (t) => {
    const body = { player_id: 'same', brand: brandId, metadata: { a: '1' }, limits: { max_stake: '5.00' } }
    const first = await open(body, { idempotencyKey: 'k1' })
    t.match(first, { status: 'ACTIVE', brand: brandId, limits: { min_stake: null, max_stake: '5.00' } })
    t.same(await open(body, { idempotencyKey: 'k1' }), first)
    t.equal(await codeOf(open({ ...body, player_id: 'other' }, { idempotencyKey: 'k1' })), 'CONFLICT')
    t.equal(await codeOf(rig.play(first, { stake: '5.01' })), 'BET_LIMIT_EXCEEDED')
    const created = await waitFor(async () =>
      (await rig.events()).find(({ data }) => data.session_id === first.session_id),
    )
    t.equal(created.data.brand, brandId)
    t.equal(created.data.expires_at, first.expires_at)
  })

  await t.test('are listed newest first, page by page', async (t) => {
    const player_id = 'lister'
    const opened = []
    for (let count = 0; count < 5; count++) opened.push(await open({ player_id }))
    const list = async (query: { limit: number; cursor?: string; status?: 'CLOSED' | 'ACTIVE' }) => {
      const request = { caller: rig.caller(), params: {}, query: { player_id, ...query }, body: undefined }
      return (await rig.bus.call(sessionsEndpoints.listSessions.call, request)).body
    }
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await list({ limit: 2, ...(cursor === null ? {} : { cursor }) })
      seen.push(...page.data.map(({ session_id }) => session_id))
      cursor = page.next_cursor
    } while (cursor !== null)
    t.same(seen, opened.map(({ session_id }) => session_id).toReversed())
    const { next_cursor } = await list({ limit: 2 })
    t.equal(await codeOf(list({ limit: 2, cursor: next_cursor ?? '', status: 'ACTIVE' })), 'VALIDATION_ERROR')

    const closing = opened[0]?.session_id ?? ''
    const close = (session_id: string) =>
      rig.bus.call(sessionsEndpoints.closeSession.call, {
        ...none,
        caller: rig.caller(),
        params: { session_id },
      })
    const closed = await close(closing)
    t.equal(closed.body.status, 'CLOSED')
    t.same(await close(closing), closed, 'closing it again answers it again')
    t.equal(await codeOf(close('ses_none')), 'SESSION_NOT_FOUND')
    t.same(
      (await list({ limit: 50, status: 'CLOSED' })).data.map(({ session_id }) => session_id),
      [closing],
    )
  })

  await t.test('tell which currencies are in use', async (t) => {
    const fresh = await startRig(t)
    await fresh.openSession({ currency: 'USD' })
    await fresh.openSession({ currency: 'JPY' })
    const { operatorId } = fresh.scope
    t.same((await fresh.bus.call(currenciesInUse, { operatorId })).currencies, ['JPY', 'USD'])
  })
})

t.test('real-money rules hold back new play and nothing else', async (t) => {
  const rig = await startRig(t)
  const live = (account: Partial<Account>): Partial<Caller> => ({
    scope: { ...rig.scope, environment: 'LIVE' },
    account: { ...rig.caller().account, ...account },
  })
  const session = await rig.openSession({ game: 'mines' }, live({}))
  t.equal(session.environment, 'LIVE')
  const message = async (account: Partial<Account>) => {
    const error = await errorOf(rig.openSession({}, live(account)))
    t.equal((await errorOf(rig.play(session, {}, live(account)))).code, error.code, 'stakes alike')
    return `${error.code} ${error.message}`
  }
  t.match(await message({ plan: 'free' }), /^FORBIDDEN .*free plan/)
  t.match(await message({ approved: false }), /^FORBIDDEN .*paid plan/)
  t.match(await message({ live_play: 'suspended' }), /^OPERATOR_NOT_LIVE/)
  t.match(await message({ live_play: 'off' }), /^REAL_MONEY_DISABLED .*account/)
  t.match(await message({ platform_real_money: false }), /^REAL_MONEY_DISABLED .*platform/)
  const round = await rig.play(session, {}, live({}))
  const elsewhere = { caller: rig.caller(), params: { round_id: round.round_id }, query: {}, body: undefined }
  t.equal(await codeOf(rig.bus.call(endpoints.getRound.call, elsewhere)), 'ROUND_NOT_FOUND')
  const cash = {
    caller: rig.playerOf(session, live({ live_play: 'off' })),
    params: { round_id: round.round_id },
    query: {},
    body: { tile: (await rig.board(round.round_id)).bombs[0] ?? 0 },
  }
  t.equal((await rig.bus.call(playEndpoints.revealTile.call, cash)).body.status, 'SETTLED')
})
