import t from 'tap'
import type { SeededBug } from '@pitboss/runtime/seeded-bug'
import { transition } from '@pitboss/rounds/domain/transition'
import { mistakenRules } from '../../services/wallet-bridge/test/fixtures/mistaken-rules.ts'
import { simulate } from '../src/simulate/simulate.ts'
import type { Mistake } from '../src/simulate/world.ts'

/** More by hand: npm run simulate -- --seeds 10000. */
const seeds = 30
const seedsMax = 120

/** A busy machine runs it many times slower than a free one, on which each takes a few seconds at most. */
const testTimeoutMs = 300_000
t.setTimeout(2 * testTimeoutMs)

await t.test(
  'no order of losses, late arrivals, crashes, pauses and voids breaks the books',
  { timeout: testTimeoutMs },
  async (t) => {
    let steps = 0
    for (let seed = 1; seed <= seeds; seed++) {
      const run = await simulate(seed)
      steps += run.steps
      t.equal(run.violation, null, `seed ${seed}`)
    }
    t.comment(`${steps} steps in ${seeds} runs`)
  },
)

await t.test('the same seed is the same run', { timeout: testTimeoutMs }, async (t) => {
  const runs = [await simulate(7, { withTrace: true }), await simulate(7, { withTrace: true })]
  t.strictSame(runs[0], runs[1])
  t.ok((runs[0]?.trace.length ?? 0) > 100)
})

type RoundRules = typeof transition
const without =
  (type: Parameters<RoundRules>[1]['type']): RoundRules =>
  (round, message, context) =>
    message.type === type ? { kind: 'unchanged' } : transition(round, message, context)

/** Rules of a round with one mistake each. */
const mistakenRounds: Record<string, RoundRules> = {
  'a paid round pays again when it is told again': (round, message, context) => {
    const [win, ...more] = round.wins
    const mistaken = message.type === 'win-paid' && win?.state === 'PAID' && more.length === 0
    if (!mistaken || round.driver !== 'game') return transition(round, message, context)
    const again = { ...win, transactionId: context.newWinId(), state: 'OWED' } as const
    return { kind: 'changed', round: { ...round, wins: [win, again] }, events: [], fact: null }
  },
  'a stake that is given back begins the round': (round, message, context) =>
    message.type === 'stake-returned' && round.status === 'PENDING'
      ? transition(round, { type: 'stake-taken', transactionId: message.transactionId }, context)
      : transition(round, message, context),
  'a late refusal ends an open round': (round, message, context) =>
    message.type === 'stake-taken' && round.status === 'OPEN'
      ? { kind: 'changed', round: { ...round, status: 'FAILED', payout: 0n }, events: [], fact: null }
      : transition(round, message, context),
  'a round left behind is never ended': without('abandon'),
  'a paid win is not noted': without('win-paid'),
  'an outcome is drawn again when the win is paid': (round, message, context) => {
    const change = transition(round, message, context)
    if (message.type !== 'win-paid' || change.kind !== 'changed' || round.driver !== 'game') return change
    return { ...change, round: { ...change.round, outcome: { roll: '00.00' } } }
  },
  'a round left behind keeps its stake': (round, message, context) => {
    const change = transition(round, message, context)
    if (message.type !== 'abandon' || change.kind !== 'changed' || change.round.status !== 'OPEN')
      return change
    return { ...change, round: { ...change.round, status: 'VOIDED', payout: 0n, reversals: [] } }
  },
}

const bugs: readonly SeededBug[] = [
  'rounds.pending-stake-counts',
  'rounds.payout-one-more',
  'rounds.nonce-skipped',
  'rounds.redrawn-after-restart',
  'rounds.event-dropped',
  'storage.fence-lost',
  'wallet-bridge.new-id-per-retry',
  'wallet-bridge.refusal-always-final',
  'wallet-bridge.silence-is-refusal',
  'wallet-bridge.rollback-of-win',
  'wallet-bridge.credit-given-up',
  'wallet-bridge.void-pays-twice',
  'wallet-bridge.two-resolvers',
  'wallet-bridge.event-before-outcome',
  'wallet-bridge.event-dropped',
  'wallet-bridge.event-twice',
]

const mistakes: [name: string, mistake: Mistake][] = [
  ...Object.entries(mistakenRules).map(([name, movementRules]): [string, Mistake] => [
    name,
    { movementRules },
  ]),
  ...Object.entries(mistakenRounds).map(([name, roundRules]): [string, Mistake] => [name, { roundRules }]),
  ...bugs.map((bug): [string, Mistake] => [bug, { bug }]),
]
for (const [name, mistake] of mistakes) {
  await t.test(`the simulation finds it when ${name}`, { timeout: testTimeoutMs }, async (t) => {
    let found: string | null = null
    let seed = 0
    while (found === null && seed < seedsMax) {
      seed += 1
      found = (await simulate(seed, { mistake })).violation
    }
    t.ok(found !== null, 'found')
    t.comment(`seed ${seed}: ${found}`)
  })
}
