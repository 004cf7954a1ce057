import t from 'tap'
import { exploreOperatorRounds, type OperatorModel } from './fixtures/explore-operator-rounds.ts'
import { mistakenOperatorRules } from './fixtures/mistaken-rounds.ts'

/** Deeper by hand: PITBOSS_EXPLORE_ASKS=4. */
const asksMax = Number(process.env.PITBOSS_EXPLORE_ASKS ?? 3)
const statesMax = 20_000_000

await t.test(
  'no order of requests, crashes, lagging workers and late results breaks a round that the operator drives',
  async (t) => {
    const { states, depth, violation } = exploreOperatorRounds({ asksMax, statesMax })
    t.comment(`${states} states, depth ${depth}, ${asksMax} requests beside the first stake`)
    t.equal(violation, null)
    t.ok(states > 10_000 && states < statesMax, 'every reachable state was visited')
  },
)

const mistakes: Readonly<Record<string, Partial<OperatorModel>>> = {
  'a rollback of a stake that wallet-bridge does not know is refused': { voidsUnknownStakes: false },
  'another write lets an asker take back what a worker has placed': { guard: 'last write' },
  // What finds nobody is the one refusal that a worker can overtake; the product keeps it.
  'who could not take an intent back says no for good': { saysUnknown: false, keepsSettlement: false },
  'a reversal that finds nobody is taken back': { keepsSettlement: false },
  ...Object.fromEntries(Object.entries(mistakenOperatorRules).map(([name, rules]) => [name, { rules }])),
}
for (const [mistake, model] of Object.entries(mistakes)) {
  await t.test(`the search finds it when ${mistake}`, async (t) => {
    const { states, violation } = exploreOperatorRounds({ asksMax: 3, statesMax, ...model })
    t.ok(violation !== null, 'found')
    t.comment(`${states} states: ${violation?.invariant}: ${violation?.trace.join(' → ')}`)
  })
}
