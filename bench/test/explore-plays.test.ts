import t from 'tap'
import { explorePlays, type Plan } from './fixtures/explore-plays.ts'

const statesMax = 2_000_000
/** A busy machine takes many times as long as a free one. */
const timeout = 300_000
t.setTimeout(2 * timeout)

const stake = { kind: 'play', id: 'same' } as const
const free = { kind: 'play', id: 'same', free: true } as const
const bet = { kind: 'bet', id: 'same' } as const
const anonymous = { kind: 'play', id: null } as const
const everyEnd = ['taken', 'refused', 'breaker open', 'request lost', 'answer lost'] as const

const plans: Record<string, Plan> = {
  'two equal stakes, whatever becomes of them': {
    asked: { a: stake, b: stake },
    ends: everyEnd,
    mortal: 'a',
  },
  'three equal stakes before a breaker': {
    asked: { a: stake, b: stake, c: stake },
    ends: ['taken', 'breaker open'],
  },
  'two equal free bets, one of which may die': { asked: { a: free, b: free }, freeBets: 5, mortal: 'a' },
  'three equal free bets and one grant': { asked: { a: free, b: free, c: free }, freeBets: 1 },
  'two equal stakes of the operator, whatever becomes of them': {
    asked: { a: bet, b: bet },
    ends: everyEnd,
    mortal: 'a',
  },
  'three equal stakes of the operator before a breaker': {
    asked: { a: bet, b: bet, c: bet },
    ends: ['taken', 'breaker open'],
  },
  'two tabs before a breaker, and a page that shows the next commitment': {
    asked: { a: anonymous, b: anonymous, page: { kind: 'look' } },
    ends: ['taken', 'breaker open'],
  },
  'equal stakes beside another': {
    asked: { a: stake, b: stake, other: { kind: 'play', id: 'other' } },
    ends: ['taken', 'breaker open'],
  },
  'the same id with two bodies': {
    asked: { a: stake, b: { ...stake, stake: '2.00' } },
    ends: everyEnd,
  },
  'a free bet beside a sweep, as the grant comes and goes': {
    asked: { a: free, sweeper: { kind: 'sweep' }, grant: { kind: 'grant comes and goes' } },
    freeBets: 1,
    mortal: 'a',
  },
}

for (const [name, plan] of Object.entries(plans)) {
  await t.test(`no order breaks ${name}`, { timeout }, async (t) => {
    const { states, ends, violation } = await explorePlays(plan, { statesMax })
    t.comment(`${states} states, ${ends} ends`)
    t.equal(violation, null)
    t.ok(states > 100 && states < statesMax, 'every reachable state was visited')
  })
}
