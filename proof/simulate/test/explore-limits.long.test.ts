import type { Charge, ChargedRound } from '@pitboss/rounds/wings/protection/rules/player-limits'
import t from 'tap'
import { exploreLimits, type LimitMistake, type LimitPlan, unfenced } from './fixtures/explore-limits.ts'

const statesMax = 100_000

const plans = {
  'two stakes of two games, whatever becomes of them': {
    stakes: { a: 'dice', b: 'mines' },
    allowed: 1,
    ends: ['taken', 'breaker open', 'request lost'],
  },
  'a stake that may die, beside a sweep': {
    stakes: { a: 'dice' },
    allowed: 1,
    ends: ['taken', 'request lost'],
    mortal: 'a',
    sweeps: true,
  },
} as const satisfies Record<string, LimitPlan>

for (const [name, plan] of Object.entries(plans)) {
  await t.test(`no order lets ${name} go beyond a limit`, async (t) => {
    const { states, ends, violation } = await exploreLimits(plan, { statesMax })
    t.comment(`${states} states, ${ends} ends`)
    t.equal(violation, null)
    t.ok(states > 100 && states < statesMax, 'every reachable state was visited')
  })
}

const first = plans['two stakes of two games, whatever becomes of them']
const mistakes: Record<string, { plan: LimitPlan; mistake: LimitMistake }> = {
  'a charge overwrites another': {
    plan: first,
    mistake: ({ limits, rounds }) => ({
      limits: {
        ...limits,
        keep: (scope, player, _version, book) => limits.keep(scope, player, unfenced, book),
      },
      rounds,
    }),
  },
  'a stake counts only once the wallet has answered': {
    plan: first,
    mistake: ({ limits, rounds }) => ({
      limits,
      rounds: {
        charged: async (scope, ids) =>
          (await rounds.charged(scope, ids)).filter(({ stakes: [stake] }) => stake?.wasTaken === true),
      },
    }),
  },
  'a stake that was taken back goes on counting': {
    plan: first,
    mistake: ({ limits, rounds }) => {
      let charges: readonly Charge[] = []
      return {
        limits: {
          ...limits,
          async find(scope, player) {
            const found = await limits.find(scope, player)
            charges = found?.book.charges ?? []
            return found
          },
        },
        rounds: {
          async charged(scope, ids) {
            const found = await rounds.charged(scope, ids)
            const gone = charges.filter(({ roundId }) => !found.some(({ id }) => id === roundId))
            return [...found, ...gone.map(asAsked)]
          },
        },
      }
    },
  },
}

for (const [name, { plan, mistake }] of Object.entries(mistakes)) {
  await t.test(`the search finds it when ${name}`, async (t) => {
    const { states, violation } = await exploreLimits(plan, { statesMax, mistake })
    t.ok(violation !== null, 'found')
    t.comment(`${states} states: ${violation?.invariant}: ${violation?.trace.join(' → ')}`)
  })
}

/** A round whose stake the wallet was asked for, in the place of one that is gone. */
function asAsked({ roundId: id, transactionId, minor }: Charge): ChargedRound {
  const stake = {
    transactionId,
    minor,
    requestHash: '',
    refusal: null,
    wasTaken: false,
    state: 'ASKED',
  } as const
  return { id, status: 'PENDING', stakes: [stake], wins: [] }
}
