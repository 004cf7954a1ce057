import { createFreeBet } from '@pitboss/contracts/endpoints/rounds'
import { getPlayerSession } from '@pitboss/contracts/endpoints/play'
import { getPlayer, listNonces } from '@pitboss/contracts/endpoints/players'
import { opsSkipNonces } from '@pitboss/contracts/calls/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { codeOf, type Rig, startRig } from './fixtures/rounds-rig.ts'
import { loseRounds } from '@pitboss/testing/lose-rounds'

const none = { params: {}, query: {}, body: undefined }
const person = {
  kind: 'user',
  user_id: 'usr_01jd5r7mq8v3k9x2c4n6p0s1tw',
  email: 'a@b.example',
  role: 'VIEWER',
} as const

const rig = await startRig(t)
const desk = (more: Partial<Caller> = {}) => rig.caller({ actor: person, ...more })
const player = async (player_id: string, more?: Partial<Caller>) =>
  (await rig.bus.call(getPlayer.call, { ...none, caller: desk(more), params: { player_id } })).body
type Asked = { limit?: number; cursor?: string; from_nonce?: string; to_nonce?: string; game?: string }
const book = async (player_id: string, { game = 'dice', limit = 50, ...asked }: Asked = {}, more = {}) => {
  const request = { ...none, caller: desk(more), params: { player_id, game }, query: { limit, ...asked } }
  return (await rig.bus.call(listNonces.call, request)).body
}
const nonces = async (...asked: Parameters<typeof book>) =>
  (await book(...asked)).data.map(({ nonce, state }) => `${nonce} ${state}`)
const show = (session: Awaited<ReturnType<Rig['openSession']>>) =>
  rig.bus.call(getPlayerSession.call, { ...none, caller: rig.playerOf(session) })

t.test('a player is shown with games, sessions, free bets and sums', async (t) => {
  const player_id = 'a player/with ÷ signs'
  t.equal(await codeOf(player(player_id)), 'NOT_FOUND')
  const session = await rig.openSession({ player_id })
  t.match(await player(player_id), {
    ...{ player_id, environment: 'SANDBOX', active_sessions: 1, free_bets: 0, games: [], play: [] },
    ...{ last_session_at: session.created_at, complete: true },
  })
  const rounds = [await rig.play(session, { stake: '2.50' }), await rig.play(session, { stake: '1.00' })]
  rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
  t.equal(await codeOf(rig.play(session)), 'INSUFFICIENT_FUNDS')
  const mines = await rig.openSession({ player_id, game: 'mines' })
  const open = await rig.play(mines)
  await rig.bus.call(createFreeBet.call, {
    ...{ ...none, caller: rig.caller() },
    body: { player_id, game: 'dice', currency: 'USD', stake: '1.00', count: 4 },
  })
  const shown = await player(player_id)
  t.match(shown, { active_sessions: 2, free_bets: 4, complete: true })
  t.match(shown.games, [
    { game: 'dice', last_nonce: 3, unfinished_round: null },
    { game: 'mines', last_nonce: 1, unfinished_round: open.round_id, last_round_at: open.created_at },
  ])
  const cents = (text: string | null) => Math.round(Number(text) * 100)
  const payouts = rounds.reduce((total, { payout }) => total + cents(payout), 0)
  const [sums] = shown.play
  t.match(sums, { currency: 'USD', rounds: 2, stakes: '3.50', refunds: '0.00' }, 'what is over counts')
  t.equal(cents(sums?.payouts ?? null), payouts)
  t.equal(cents(sums?.ggr ?? null), 350 - payouts)
  const elsewhere = { ...rig.scope, environment: 'LIVE' } as const
  t.equal(await codeOf(player(player_id, { scope: elsewhere })), 'NOT_FOUND')
  t.equal(await codeOf(book(player_id, {}, { scope: elsewhere })), 'NOT_FOUND')
})

t.test('a book has each nonce once, newest first, with commitment and round', async (t) => {
  const player_id = 'a reader'
  t.equal(await codeOf(book(player_id)), 'NOT_FOUND')
  const session = await rig.openSession({ player_id })
  t.strictSame(await nonces(player_id), [], 'known, and nothing was shown yet')
  const before = (await show(session)).body.next_round
  const first = await rig.play(session, { client_seed: 'mine' })
  for (let nonce = 2; nonce <= 5; nonce++) await rig.play(session)
  const next = (await show(session)).body.next_round
  const { data } = await book(player_id)
  t.strictSame(
    data.map(({ nonce, state }) => `${nonce} ${state}`),
    ['6 SHOWN', '5 PLAYED', '4 PLAYED', '3 PLAYED', '2 PLAYED', '1 PLAYED'],
  )
  t.match(data[0], { round: null, commitment: { server_seed_hash: next.server_seed_hash } })
  t.match(data[5], { commitment: { server_seed_hash: before.server_seed_hash } })
  t.strictSame(data[5]?.round, first)
  t.ok((data[5]?.commitment?.committed_at ?? '') <= first.created_at, 'committed to before the bet')
  for (const { round } of data.slice(1)) t.ok(verifyRound(round).valid)

  t.strictSame(await nonces(player_id, { from_nonce: '2', to_nonce: '4' }), [
    '4 PLAYED',
    '3 PLAYED',
    '2 PLAYED',
  ])
  t.strictSame(await nonces(player_id, { from_nonce: '5', to_nonce: '99' }), ['6 SHOWN', '5 PLAYED'])
  t.strictSame(await nonces(player_id, { from_nonce: '7' }), [])
  const page = await book(player_id, { limit: 4 })
  t.equal(page.data.length, 4)
  const cursor = page.next_cursor ?? ''
  t.strictSame(await nonces(player_id, { limit: 4, cursor }), ['2 PLAYED', '1 PLAYED'])
  await rig.openSession({ player_id: 'another' })
  t.equal(await codeOf(book('another', { cursor })), 'VALIDATION_ERROR', 'a cursor is of its player')
  t.equal(await codeOf(book(player_id, { game: 'poker' })), 'GAME_NOT_FOUND')
})

t.test('an open round shows neither seed nor outcome', async (t) => {
  const session = await rig.openSession({ player_id: 'a miner', game: 'mines' })
  await rig.play(session)
  const { data } = await book('a miner', { game: 'mines' })
  t.match(data, [
    {
      ...{ nonce: 1, state: 'PLAYED', commitment: { server_seed_hash: /^[0-9a-f]{64}$/ } },
      round: { status: 'OPEN', outcome: null, fairness: { server_seed: null } },
    },
  ])
})

t.test('a place that is held is told apart from a round that is missing', async (t) => {
  const player_id = 'a restored one'
  const session = await rig.openSession({ player_id })
  /** Behind each end the next nonce is committed to. */
  const committed = (next: string) => waitFor(async () => (await nonces(player_id))[0] === next)
  for (let nonce = 1; nonce <= 3; nonce++) await rig.play(session)
  await committed('4 SHOWN')
  await loseRounds(rig.storage.db, player_id, [2, 3])
  await rig.bus.call(opsSkipNonces, {
    ...{ order: { by: 'ann', reason: 'restored', dryRun: false }, scope: rig.scope },
    rounds: [{ round_id: 'rnd_lost', player_id, game: 'dice', currency: 'USD', nonce: 6 }],
  })
  await rig.play(session)
  await committed('8 SHOWN')
  const held = ['6 SKIPPED', '5 SKIPPED', '4 SKIPPED', '3 SKIPPED', '2 SKIPPED']
  t.strictSame(await nonces(player_id), ['8 SHOWN', '7 PLAYED', ...held, '1 PLAYED'])
  await loseRounds(rig.storage.db, player_id, [2, 3, 4, 5])
  t.strictSame(await nonces(player_id), [
    '8 SHOWN',
    '7 PLAYED',
    '6 SKIPPED',
    '5 MISSING',
    '4 MISSING',
    '3 MISSING',
    '2 MISSING',
    '1 PLAYED',
  ])
  const [, , skipped, never, lost] = (await book(player_id)).data
  t.strictSame([skipped?.round, never?.round, lost?.round], [null, null, null])
  t.equal(never?.commitment, null)
  t.match((await player(player_id)).games, [{ game: 'dice', last_nonce: 7 }])
})
