import t from 'tap'
import { type Advance, realRules } from './fixtures/explore-movements.ts'
import { exploreWins } from './fixtures/explore-wins.ts'

/** Deeper by hand: PITBOSS_EXPLORE_CALLS=5. */
const callsMax = Number(process.env.PITBOSS_EXPLORE_CALLS ?? 3)
const statesMax = 2_000_000

await t.test('no order of losses, refusals, callbacks and crashes keeps an owed credit unpaid', async (t) => {
  const { states, depth, violation } = exploreWins({ callsMax, statesMax })
  t.comment(`${states} states, depth ${depth}, ${callsMax} calls`)
  t.strictSame(violation, null)
  t.ok(states > 1000 && states < statesMax, 'every reachable state was visited')
})

/** Rules with one mistake each about what speaks of a credit besides its answers. */
const mistaken: Record<string, Advance> = {
  'a callback counts as the result': (state, message) =>
    message.kind === 'hinted' && state.status === 'PENDING' && state.call === null
      ? { kind: 'applied', state: { ...state, status: 'SUCCESS', dueAt: null }, event: 'transaction.win' }
      : realRules(state, message),
  'a callback during a call ends the call': (state, message) =>
    message.kind === 'hinted' && state.call !== null
      ? { kind: 'applied', state: { ...state, call: null, dueAt: null }, event: null }
      : realRules(state, message),
  'a person who says that it is done tells nobody': (state, message) => {
    const step = realRules(state, message)
    return message.kind === 'resolved' && step.kind === 'applied' ? { ...step, event: null } : step
  },
  'a credit is given up after a refusal': (state, message) => {
    const isRefused = message.kind === 'answered' && message.judgement.kind === 'refused'
    return isRefused && state.call?.token === message.token
      ? { kind: 'applied', state: { ...state, status: 'FAILED', call: null }, event: 'transaction.failed' }
      : realRules(state, message)
  },
  'a failed try goes one step further than the age': (state, message) => {
    const step = realRules(state, message)
    if (step.kind !== 'applied' || step.state.dueAt === null || message.kind !== 'answered') return step
    const later = new Date(step.state.dueAt.getTime() + 60_000)
    return { ...step, state: { ...step.state, dueAt: later } }
  },
}
for (const [mistake, advance] of Object.entries(mistaken)) {
  await t.test(`the search finds it when ${mistake}`, async (t) => {
    const { states, violation } = exploreWins({ advance, callsMax: 3, statesMax })
    t.ok(violation !== null, 'found')
    t.comment(`${states} states: ${violation?.invariant}: ${violation?.trace.join(' → ')}`)
  })
}
