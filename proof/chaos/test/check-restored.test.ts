import t from 'tap'
import { checkRounds } from '../src/check/check-rounds.ts'
import { checkRestored, isExcused, type RestoredPart } from '../src/check/restored.ts'
import type { Event, Movement, Round } from '../src/check/rows.ts'
import { parseSources } from '../src/check/sources.ts'
import { planRestore } from '../src/faults/restored-database.ts'
import { createRandom } from '../src/random.ts'
import {
  brokenBy as brokenRules,
  noRows,
  sampledAt,
  sampleMovement,
  sampleRound,
} from './fixtures/sample-rows.ts'

const at = sampledAt
const lost: RestoredPart = {
  lost: new Map([['rnd_lost', { sequence: 'p/dice', nonce: 3 }]]),
  changed: new Set(['rnd_changed']),
  transactionIds: new Set(['bet-lost']),
}

const movement = (more: Partial<Movement>) =>
  sampleMovement({ transaction_id: 'bet-lost', round_id: 'rnd_lost', ...more })
const round = (more: Partial<Round>) => sampleRound({ fairness: { nonce: 3, server_seed: null }, ...more })

function event(type: string, roundId: string): Event {
  return { id: `evt_${type}`, type, created_at: at, environment: 'SANDBOX', data: { round_id: roundId } }
}

function brokenBy(
  given: { movements?: Movement[]; rounds?: Round[]; events?: Event[] },
  restored: RestoredPart = lost,
): string[] {
  const sources = { ...parseSources({ ...noRows, ...given }), restored }
  return brokenRules((verdict) => checkRestored(sources, verdict))
}

await t.test('a stake without its round must have gone back', (t) => {
  const name = 'restore: a stake whose round is lost went back, unless the round had ended or paid'
  t.strictSame(brokenBy({ movements: [movement({})] }), [name])
  t.strictSame(brokenBy({ movements: [movement({ status: 'REFUNDED' })] }), [])
  t.strictSame(brokenBy({ movements: [movement({})], events: [event('round.completed', 'rnd_lost')] }), [])
  const win = movement({ type: 'WIN', transaction_id: 'win-1' })
  t.strictSame(brokenBy({ movements: [movement({}), win] }), [])
  t.end()
})

await t.test('a round is paid once', (t) => {
  const wins = ['win-1', 'win-2'].map((id) =>
    movement({ type: 'WIN', transaction_id: id, round_id: 'rnd_1' }),
  )
  const name = 'restore: a round that we play is paid once'
  t.strictSame(brokenBy({ movements: wins, rounds: [round({})] }), [name])
  t.strictSame(brokenBy({ movements: wins, rounds: [round({ driver: 'operator' })] }), [])
  t.strictSame(brokenBy({ movements: wins.slice(1), rounds: [round({})] }), [])
  t.end()
})

await t.test('a nonce of which something tells is not given out again', (t) => {
  const name =
    'restore: the nonce of a lost round is given to no later one, if a stake or an event tells of it'
  const events = [event('round.started', 'rnd_lost')]
  const later = round({ round_id: 'rnd_new' })
  t.strictSame(brokenBy({ rounds: [later], events }), [name])
  t.strictSame(brokenBy({ rounds: [later], movements: [movement({ status: 'FAILED' })] }), [name])
  t.strictSame(brokenBy({ rounds: [later] }), [])
  t.strictSame(brokenBy({ rounds: [round({ ...later, game: 'mines' })], events }), [])
  t.strictSame(brokenBy({ rounds: [round({ round_id: 'rnd_1' })], events }), [], 'an earlier one')
  const behind = (sequence: string, nonce: number) => {
    const both = new Map([...lost.lost, ['rnd_free', { sequence, nonce }]])
    return { ...lost, lost: both }
  }
  const stake = { rounds: [later], movements: [movement({ status: 'FAILED' })] }
  t.strictSame(brokenBy(stake, behind('p/dice', 2)), [], 'behind one of which nothing tells')
  t.strictSame(brokenBy(stake, behind('p/dice', 4)), [name], 'before such a one')
  t.strictSame(brokenBy(stake, behind('p/mines', 2)), [name], 'beside one of another game')
  t.strictSame(brokenBy({ rounds: [later], events }, behind('p/dice', 2)), [name], 'an event tells the nonce')
  t.end()
})

await t.test('each lost round explains two gaps of its nonce sequence at most', (t) => {
  const name = 'rounds: nonces run 1, 2, 3 … without gaps'
  const brokenWith = (...nonces: number[]) => {
    const own = nonces.map((nonce) =>
      sampleRound({ round_id: `rnd_${nonce}`, player_id: 'p', fairness: { nonce, server_seed: null } }),
    )
    const sources = { ...parseSources({ ...noRows, rounds: own }), restored: lost }
    return brokenRules((verdict) => checkRounds(sources, verdict)).includes(name)
  }
  t.equal(brokenWith(1, 2, 4, 5), false, 'its own nonce, 3')
  t.equal(brokenWith(1, 2, 5), false, 'and the place that it takes behind all that are known')
  t.equal(brokenWith(1, 2, 6), true)
  t.equal(brokenWith(1, 2, 2), true)
  t.end()
})

await t.test('answers about what was lost are excused, and no others', (t) => {
  const told = (id: string, body: Record<string, unknown> = {}) => ({
    ...{ at, sentAtMs: 0, answeredAtMs: 0, what: 'movement' as const, id, asked: {}, token: '' },
    answer: { status: 200, body },
  })
  t.equal(isExcused(told('bet-lost'), lost), true)
  t.equal(isExcused(told('bet-2', { round_id: 'rnd_changed' }), lost), true)
  t.equal(isExcused(told('bet-2', { resource: { round_id: 'rnd_lost' } }), lost), true)
  t.equal(isExcused(told('bet-2', { round_id: 'rnd_1' }), lost), false)
  t.equal(isExcused(told('bet-lost'), null), false)
  t.end()
})

await t.test('a run has one restore at most, long before its end', (t) => {
  const seeds = Array.from({ length: 400 }, (_, seed) => createRandom(seed))
  const drawn = seeds.flatMap((random) => planRestore(450, random, false) ?? [])
  t.ok(drawn.length > 50 && drawn.length < 150, `${drawn.length} of 400`)
  t.ok(drawn.every(({ copyAfterMs, ageMs }) => copyAfterMs + ageMs <= 450_000 - 90_000))
  t.equal(seeds.flatMap((random) => planRestore(60, random, false) ?? []).length, 0)
  t.equal(seeds.flatMap((random) => planRestore(60, random, true) ?? []).length, 400)
  t.end()
})
