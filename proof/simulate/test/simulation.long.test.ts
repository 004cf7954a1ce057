import t from 'tap'
import { type Advance, realRules } from './fixtures/explore-movements.ts'
import { mistakenRules } from './fixtures/mistaken-rules.ts'
import { findViolation } from '../src/find-violation.ts'
import { simulate } from '../src/simulate.ts'
import { mistakenRounds } from './fixtures/mistaken-rounds.ts'
import { mistakenParts } from './fixtures/mistaken-stores.ts'
import type { JournalMistake, Mistake } from '../src/world.ts'

/** More by hand: npm run simulate -- --seeds 10000. */
const seeds = 40
const seedsMax = 400

await t.test('no order of losses, late arrivals, crashes, pauses and voids breaks the books', async (t) => {
  let steps = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const run = await simulate(seed)
    steps += run.steps
    t.equal(run.violation, null, `seed ${seed}`)
  }
  t.comment(`${steps} steps in ${seeds} runs`)
})

await t.test('the same seed is the same run', async (t) => {
  const runs = [await simulate(7, { withTrace: true }), await simulate(7, { withTrace: true })]
  t.strictSame(runs[0], runs[1])
  t.ok((runs[0]?.trace.length ?? 0) > 100)
})

/** Mistakes that only callbacks, or clocks that differ, can show. */
const meddlesome: Readonly<Record<string, Advance>> = {
  'a callback counts as the result': (state, message) =>
    message.kind === 'hinted' && state.status === 'PENDING' && state.call === null
      ? { kind: 'applied', state: { ...state, status: 'SUCCESS', dueAt: null }, event: 'transaction.bet' }
      : realRules(state, message),
  'a lease is no longer than the call': (state, message) =>
    realRules(state, message.kind === 'call-begun' ? { ...message, leaseMs: timeoutMs } : message),
}
/** Of the wallet's calls in the simulation, with the time that a fast process takes to store the answer. */
const timeoutMs = 1500

const mistakenJournals: readonly JournalMistake[] = [
  'events count as recorded before they are sent',
  'what lives is taken over',
  'lists are set back',
  'lists go out beside their entries',
  'replicas share a slot',
  'a slow read is remembered',
]

const mistakes: [name: string, mistake: Mistake][] = [
  ...Object.entries({ ...mistakenRules, ...meddlesome }).map(([name, movementRules]): [string, Mistake] => [
    name,
    { movementRules },
  ]),
  ...Object.entries(mistakenRounds).map(([name, roundRules]): [string, Mistake] => [name, { roundRules }]),
  ...Object.entries(mistakenParts),
  ...mistakenJournals.map((journal): [string, Mistake] => [journal, { journal }]),
]
/** Seeds that showed these mistakes on 27 November 2026: the search begins there. */
const beginsAt: Readonly<Record<string, number>> = {
  'a stake whose tries are spent is given up without a rollback': 40,
  'an answer is taken from a call that was given up': 45,
  'the budget of a stake has no end': 47,
  'a lost call counts as never sent': 14,
  'a stake that was added to a round does not count': 11,
  'replicas share a slot': 25,
}
for (const [name, mistake] of mistakes) {
  await t.test(`the simulation finds it when ${name}`, async (t) => {
    const found = await findViolation({ mistake, harsh: true, beginsAt: beginsAt[name], seedsMax })
    t.ok(found !== null, 'found')
    t.comment(`seed ${found?.seed}: ${found?.violation}`)
  })
}
