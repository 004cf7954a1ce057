import t from 'tap'
import { mistakenRules } from './fixtures/mistaken-rules.ts'
import { exploreRounds } from './fixtures/explore-rounds.ts'
import { mistakenRounds } from './fixtures/mistaken-rounds.ts'

/** Deeper by hand: PITBOSS_EXPLORE_CALLS=6. */
const callsMax = Number(process.env.PITBOSS_EXPLORE_CALLS ?? 4)
const statesMax = 5_000_000

await t.test('no order of voids, resolvers, crashes and late arrivals breaks a round', async (t) => {
  const { states, depth, violation } = exploreRounds({ callsMax, statesMax })
  t.comment(`${states} states, depth ${depth}, ${callsMax} calls`)
  t.equal(violation, null)
  t.ok(states > 10_000 && states < statesMax, 'every reachable state was visited')
})

/** Of a round that is abandoned, or told again what it knows: this search has none, the simulation does. */
const elsewhere = [
  'a stake that is told again fails an open round',
  'a round left behind is never ended',
  'a round left behind keeps its stake',
]

for (const [mistake, advance] of Object.entries(mistakenRules)) {
  await t.test(`the search finds it when ${mistake}`, async (t) => {
    const { states, violation } = exploreRounds({ advance, callsMax: 3, statesMax })
    t.ok(violation !== null, 'found')
    t.comment(`${states} states: ${violation?.invariant}: ${violation?.trace.join(' → ')}`)
  })
}
for (const [mistake, rules] of Object.entries(mistakenRounds)) {
  if (elsewhere.includes(mistake)) continue
  await t.test(`the search finds it when ${mistake}`, async (t) => {
    const { states, violation } = exploreRounds({ rules, callsMax: 3, statesMax })
    t.ok(violation !== null, 'found')
    t.comment(`${states} states: ${violation?.invariant}: ${violation?.trace.join(' → ')}`)
  })
}
