import t from 'tap'
import { explore } from './fixtures/explore-movements.ts'
import { mistakenRules } from './fixtures/mistaken-rules.ts'

/** Deeper by hand: PITBOSS_EXPLORE_CALLS=4 takes minutes. */
const callsMax = Number(process.env.PITBOSS_EXPLORE_CALLS ?? 3)
const statesMax = 5_000_000

await t.test('no order of losses, doubles, late arrivals, crashes and voids breaks the books', async (t) => {
  const { states, depth, violation } = explore({ callsMax, statesMax })
  t.comment(`${states} states, depth ${depth}, ${callsMax} calls`)
  t.equal(violation, null)
  t.ok(states > 10_000 && states < statesMax, 'every reachable state was visited')
})

for (const [mistake, advance] of Object.entries(mistakenRules)) {
  await t.test(`the search finds it when ${mistake}`, async (t) => {
    const { states, violation } = explore({ advance, callsMax: 2, statesMax: 200_000 })
    t.ok(violation !== null, 'found')
    t.comment(`${states} states: ${violation?.invariant}: ${violation?.trace.join(' → ')}`)
  })
}
