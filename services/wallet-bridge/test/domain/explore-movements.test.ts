import t from 'tap'
import type { MovementMessage, MovementState, MovementStep } from '../../src/domain/movement.ts'
import { explore, realRules } from '../fixtures/explore-movements.ts'

/** Deeper by hand: PITBOSS_EXPLORE_CALLS=4 takes minutes. */
const callsMax = Number(process.env.PITBOSS_EXPLORE_CALLS ?? 3)
const statesMax = 5_000_000

await t.test('no order of losses, doubles, late arrivals, crashes and voids breaks the books', async (t) => {
  const { states, depth, violation } = explore({ callsMax, statesMax })
  t.comment(`${states} states, depth ${depth}, ${callsMax} calls`)
  t.equal(violation, null)
  t.ok(states > 10_000 && states < statesMax, 'every reachable state was visited')
})

type Advance = (state: MovementState, message: MovementMessage) => MovementStep
const change = (state: MovementState, fields: Partial<MovementState>): MovementStep => ({
  kind: 'applied',
  state: { ...state, call: null, dueAt: null, ...fields },
  event: 'transaction.failed',
})

/** Rules with one mistake each, of the kind that such systems ship with. */
const mistakes: Record<string, Advance> = {
  'a refusal after an unknown try is final': (state, message) => {
    const mistaken = message.kind === 'answered' && message.judgement.kind === 'refused'
    return mistaken && state.type === 'BET' && state.call?.token === message.token && state.reversal === null
      ? change(state, { status: 'FAILED' })
      : realRules(state, message)
  },
  'a late success counts although a rollback is owed': (state, message) => {
    const mistaken = message.kind === 'answered' && message.judgement.kind === 'success'
    return mistaken && state.call?.token === message.token && state.status === 'PENDING'
      ? change(state, { status: 'SUCCESS' })
      : realRules(state, message)
  },
  'a stake whose tries are spent is given up without a rollback': (state, message) =>
    message.kind === 'budget-spent' && realRules(state, message).kind === 'applied'
      ? change(state, { status: 'FAILED' })
      : realRules(state, message),
  'a void ends the stake without telling the wallet': (state, message) =>
    message.kind === 'void-asked' && realRules(state, message).kind === 'applied'
      ? change(state, { status: 'ROLLED_BACK' })
      : realRules(state, message),
  'an answer is taken from a call that was given up': (state, message) => {
    const stale = message.kind === 'answered' && message.judgement.kind === 'refused' && state.call === null
    return stale && state.status === 'PENDING' && state.type === 'BET'
      ? change(state, { status: 'FAILED' })
      : realRules(state, message)
  },
  'a rollback that the wallet refuses is final': (state, message) => {
    const mistaken = message.kind === 'answered' && message.judgement.kind === 'refused'
    return mistaken && state.type === 'ROLLBACK' && state.call?.token === message.token
      ? change(state, { status: 'FAILED' })
      : realRules(state, message)
  },
  'a lost call counts as never sent': (state, message) => {
    const step = realRules(state, message)
    return message.kind === 'call-lost' && step.kind === 'applied' && step.state.status === 'PENDING'
      ? { ...step, state: { ...step.state, unknownTries: 0 } }
      : step
  },
  'a reversal ends the original before the wallet knows of it': (state, message) => {
    const step = realRules(state, message)
    return message.kind === 'reversal-placed' && step.kind === 'applied'
      ? change(step.state, { status: 'ROLLED_BACK' })
      : step
  },
  'the budget of a stake has no end': (state, message) =>
    message.kind === 'budget-spent' ? { kind: 'ignored', state } : realRules(state, message),
}

for (const [mistake, advance] of Object.entries(mistakes)) {
  await t.test(`the search finds it when ${mistake}`, async (t) => {
    const { states, violation } = explore({ advance, callsMax: 2, statesMax: 200_000 })
    t.ok(violation !== null, 'found')
    t.comment(`${states} states: ${violation?.invariant}: ${violation?.trace.join(' → ')}`)
  })
}
