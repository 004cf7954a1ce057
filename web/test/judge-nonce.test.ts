import type { Nonce } from '@pitboss/contracts/objects/player'
import { roundSchema } from '@pitboss/contracts/objects/round'
import { drawDice } from '@pitboss/fairness/games/dice'
import { seedHash } from '@pitboss/fairness/server-seed'
import t from 'tap'
import { judgeNonce } from '../dashboard/src/fairness/judge-nonce.ts'
import { nothingYet, recompute, withPage } from '../dashboard/src/fairness/recompute.ts'

const at = '2026-11-23T09:00:00.000Z'
const id = '01jd3v8x5q7r2m4n6p8s0t1w3y'
const uuid = '0193a5c4-9d3e-7a2b-8c1d-4e5f60718293'

/** A nonce with an honest round of dice, settled. */
function played(nonce: number, more: Record<string, unknown> = {}): Nonce {
  const seed = String(nonce).padStart(64, '0')
  const { roll } = drawDice({ serverSeed: seed, clientSeed: null, nonce })
  const won = roll > '50.00'
  const round = roundSchema.parse({
    ...{ round_id: `rnd_${id}`, session_id: `ses_${id}`, player_id: 'p', game: 'dice', status: 'SETTLED' },
    ...{ stake: '1.00', payout: won ? '1.98' : '0.00', currency: 'USD', free_bet: false, progress: null },
    ...{ bet: { target: '50.00', direction: 'over' }, multiplier: won ? '1.9803' : '0.0000' },
    outcome: { roll, target: '50.00', direction: 'over', won },
    fairness: {
      ...{ algorithm: 'fair-v1', server_seed_hash: seedHash(seed), client_seed: null, nonce },
      server_seed: seed,
    },
    ...{ wallet_round_id: uuid, wallet_game_id: uuid, driver: 'game', environment: 'SANDBOX' },
    ...{ created_at: at, completed_at: at, end_reason: won ? 'win' : 'loss' },
    ...more,
  })
  const commitment = { server_seed_hash: seedHash(seed), committed_at: at }
  return { nonce, state: 'PLAYED', commitment, round }
}
const without = (nonce: number, state: Exclude<Nonce['state'], 'PLAYED'>): Nonce => ({
  ...{ nonce, state, commitment: null, round: null },
})

t.test('an honest round comes out the same', async (t) => {
  for (const nonce of [1, 2, 3, 4]) t.match(judgeNonce(played(nonce)), { nonce, verdict: 'verified' })
  const driven = played(5, {
    driver: 'operator',
    outcome: { any: 'thing' },
    multiplier: null,
    payout: '7.00',
  })
  t.match(judgeNonce(driven), { verdict: 'verified', words: /Your server decided/ })
})

t.test('a mismatch says what was computed and what is recorded', async (t) => {
  const { round } = played(1)
  const roll = String(round?.outcome?.roll)
  const told = (entry: Nonce) => {
    const { verdict, words } = judgeNonce(entry)
    t.equal(verdict, 'mismatch')
    return words
  }
  const paid = told(played(1, { payout: '9.99' }))
  t.match(paid, 'payout: computed ')
  t.match(paid, 'recorded 9.99')
  const drawn = told(
    played(1, { outcome: { ...round?.outcome, roll: roll === '12.34' ? '12.35' : '12.34' } }),
  )
  t.match(drawn, `outcome roll: computed ${roll}, recorded 12.3`)
  const fairness = { ...round?.fairness, server_seed: 'f'.repeat(64) }
  t.match(told(played(1, { fairness })), 'computed')
  t.match(told({ ...played(1), commitment: null }), 'No commitment is on record')
  const other = { server_seed_hash: seedHash('0'), committed_at: at }
  t.match(told({ ...played(1), commitment: other }), other.server_seed_hash)
  t.match(told({ ...played(1), nonce: 2 }), 'names nonce 1')
  t.match(told({ ...played(1), round: null }), 'no round')
})

t.test('a gap and what is not over are told apart', async (t) => {
  t.match(judgeNonce(without(9, 'MISSING')), { verdict: 'gap', words: /no round/, roundId: null })
  t.match(judgeNonce(without(9, 'SKIPPED')), { verdict: 'gap', words: /place is held/ })
  t.match(judgeNonce(without(9, 'SHOWN')), { verdict: 'open', words: /no bet yet/ })
  const fairness = { ...played(3).round?.fairness, server_seed: null }
  const open = { status: 'OPEN', completed_at: null, outcome: null, payout: null, fairness }
  t.match(judgeNonce(played(3, open)), { verdict: 'open', words: /OPEN.*secret/, roundId: `rnd_${id}` })
})

t.test('all pages of a range are computed, and a seed that serves twice is found', async (t) => {
  const twice = { ...played(2), nonce: 4, state: 'SHOWN', round: null } as const
  const pages: Nonce[][] = [
    [without(5, 'SHOWN'), twice, played(3)],
    [played(2), without(1, 'MISSING')],
  ]
  const asked: object[] = []
  const api = {
    get: async (_schema: unknown, path: string, query?: object) => {
      asked.push({ path, ...query })
      return { data: pages[asked.length - 1] ?? [], next_cursor: asked.length < pages.length ? 'next' : null }
    },
  }
  const seen: number[] = []
  let last = nothingYet
  // Safe: the double answers what the schema of the list says.
  await recompute(api as never, 'a/book', { from_nonce: '1' }, new AbortController().signal, (progress) => {
    seen.push(progress.looked)
    last = progress
  })
  t.strictSame(asked, [
    { path: 'a/book', from_nonce: '1', limit: '200' },
    { path: 'a/book', cursor: 'next', limit: '200' },
  ])
  t.strictSame(seen, [3, 5])
  t.strictSame(last.counts, { verified: 1, open: 2, gap: 1, mismatch: 1 })
  t.strictSame(
    last.findings.map(({ nonce, verdict }) => `${nonce} ${verdict}`),
    ['5 open', '4 open', '2 mismatch', '1 gap'],
  )
  t.match(last.findings[2]?.words, 'nonce 4, too')
  const many = Array.from({ length: 300 }, (_, at) => without(at + 1, 'MISSING'))
  const counted = withPage(nothingYet, many, new Map())
  t.equal(counted.counts.gap, 300)
  t.equal(counted.findings.length, 200)
})
