import type { ClientDeps } from './clients/client.ts'
import { driveRounds } from './clients/operator-server.ts'
import { play, type PlayerPlan } from './clients/player.ts'
import type { Tenancy } from './open-tenancies.ts'

/** Number of clients of each kind. */
export type ChaosLoad = { players: number; drivers: number }

/** Beside the load of the demo operator's test environment, which has most. */
const sideLoad: ChaosLoad = { players: 3, drivers: 1 }
const games = ['dice', 'dice', 'mines', 'mines', 'spin-bottle'] as const
/** Currencies of players one after the other: most have dollars, some none of its decimals or many more. */
const currencies = ['USD', 'USD', 'JPY', 'USD', 'BTC', 'USD', 'USD'] as const

/** Players and operators' servers of an account's environment. */
export function startClients(
  { name }: Tenancy,
  load: ChaosLoad,
  depsOf: (name: string) => ClientDeps,
): Promise<void>[] {
  const { players, drivers } = name === 'test' ? load : sideLoad
  return [
    ...playerPlans(players, name !== 'test').map((plan) => play(depsOf(plan.playerId), plan)),
    ...Array.from({ length: drivers }, (_, index) => {
      const currency = currencyOf(name === 'second' ? index + 2 : index * 2)
      return driveRounds(depsOf(`op-${index}`), {
        playerId: `rich-op-${index}`,
        currency,
        workers: 1 + (index % 2),
      })
    }),
  ]
}

/** All three games, some players with free bets, and one of each kind that the sandbox wallet refuses. */
function playerPlans(players: number, isSide: boolean): PlayerPlan[] {
  const plans = Array.from({ length: players }, (_, index): PlayerPlan => {
    const game = games[index % games.length] ?? 'dice'
    return {
      playerId: `rich-${game}-${index}`,
      game,
      currency: currencyOf(isSide ? index + 1 : index),
      freeBets: index % 5 === 4 || index === 1,
      tabs: index % 2 === 1 ? 2 : 1,
    }
  })
  if (isSide) return plans
  const refused = ['broke', 'blocked', 'limited'].map(
    (kind): PlayerPlan => ({
      ...{ playerId: `${kind}-player`, game: 'dice', currency: 'USD', freeBets: false, tabs: 1 },
    }),
  )
  // Money for a few stakes: some copies of a request meet the end of it.
  const poor = [0, 1].map(
    (index): PlayerPlan => ({
      ...{ playerId: `poor-${index}`, game: 'dice', currency: 'USD', freeBets: false, tabs: 2 },
    }),
  )
  return [...plans, ...refused, ...poor]
}

function currencyOf(index: number): string {
  return currencies[index % currencies.length] ?? 'USD'
}
