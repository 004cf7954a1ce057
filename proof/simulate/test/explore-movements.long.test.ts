import t from 'tap'
import { type Advance, explore, realRules } from './fixtures/explore-movements.ts'
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

await t.test('nor do callbacks and ids that belong to another movement', async (t) => {
  const { states, violation } = explore({ meddled: true, callsMax: callsMax - 1, statesMax })
  t.comment(`${states} states, ${callsMax - 1} calls`)
  t.equal(violation, null)
  t.ok(states > 10_000 && states < statesMax, 'every reachable state was visited')
})

/** Mistakes that only a callback or a taken id can show. */
const meddlesome: Record<string, Advance> = {
  'a callback is taken for an acknowledgement': (state, message) =>
    message.kind === 'hinted' && state.status === 'PENDING' && state.call === null
      ? { kind: 'applied', state: { ...state, status: 'SUCCESS', dueAt: null }, event: 'transaction.bet' }
      : realRules(state, message),
  'an owed rollback is forgotten when its id is taken': (state, message) =>
    message.kind === 'reversal-conflicted' && state.reversal !== null && !state.reversal.placed
      ? { kind: 'applied', state: { ...state, reversal: null, dueAt: null }, event: null }
      : realRules(state, message),
}
for (const [mistake, advance] of Object.entries(meddlesome)) {
  await t.test(`the search finds it when ${mistake}`, async (t) => {
    const { states, violation } = explore({ advance, meddled: true, callsMax: 2, statesMax: 200_000 })
    t.ok(violation !== null, 'found')
    t.comment(`${states} states: ${violation?.invariant}: ${violation?.trace.join(' → ')}`)
  })
}

for (const [mistake, advance] of Object.entries(mistakenRules)) {
  await t.test(`the search finds it when ${mistake}`, async (t) => {
    const { states, violation } = explore({ advance, callsMax: 2, statesMax: 200_000 })
    t.ok(violation !== null, 'found')
    t.comment(`${states} states: ${violation?.invariant}: ${violation?.trace.join(' → ')}`)
  })
}
