import { z } from 'zod'
import { requestKey } from '../check/requests.ts'
import { inCurrency } from '../in-currency.ts'
import type { Random } from '../random.ts'
import { type Answer, codeOf, isTransient, send } from '../send.ts'
import { ask, type ClientDeps, openSession, perhapsDoubled, rest } from './client.ts'

export type PlayerPlan = {
  playerId: string
  game: 'dice' | 'mines' | 'spin-bottle'
  currency: string
  freeBets: boolean
  /** Each plays for itself and knows nothing of the others. */
  tabs: number
}

const round = z.looseObject({ round_id: z.string(), status: z.string() })
const sitting = z.looseObject({ open_round: round.nullable() })
const resource = z.looseObject({ resource: z.looseObject({ round_id: z.string().optional() }) })
const freeBetCount = 1000
const stakes = ['0.50', '1.00', '2.37', '5.00']
const freeBetStake = '1.00'
const tiles = 25
const firstTab = 'tab1-'

/** A player who plays one game as long as the run lasts, in one tab or more. */
export async function play(deps: ClientDeps, plan: PlayerPlan): Promise<void> {
  const { operator, random, stopping } = deps
  const { playerId, game, currency, freeBets, tabs } = plan
  const session = await openSession(deps, { player_id: playerId, game, currency })
  if (session === null) return
  if (freeBets) {
    const grant = {
      ...{ player_id: playerId, game, currency, count: freeBetCount },
      stake: inCurrency(freeBetStake, currency),
    }
    let granted: Answer
    do granted = await operator.call('POST', '/free-bets', grant)
    while (granted.status !== 201 && !stopping.aborted)
  }
  const names = [firstTab, ...Array.from({ length: tabs - 1 }, (_, index) => `tab${index + 2}-`)]
  await Promise.all(
    names.map((tab) => playTab({ ...deps, random: random.fork(tab) }, plan, { token: session.token, tab })),
  )
}

/** Repeats what stays unanswered, voids what hangs, leaves some mines open. */
async function playTab(
  deps: ClientDeps,
  { playerId, game, currency, freeBets }: PlayerPlan,
  { token, tab }: { token: string; tab: string },
): Promise<void> {
  const { random, stopping } = deps
  for (let number = 1; !stopping.aborted; number++) {
    const free = freeBets && random.chance(0.5)
    const id = random.chance(0.6) ? idOf(tab, number, random) : null
    const body = {
      stake: inCurrency(free ? freeBetStake : random.pick(stakes), currency),
      bet: betOf(game, random),
      client_seed: `seed-${tab}${number}`,
      ...(free ? { free_bet: true } : {}),
      ...(id === null ? {} : { transaction_id: id }),
    }
    const once = () =>
      ask(
        deps,
        {
          ...{ what: 'stake', path: '/game/rounds', token, body },
          id: id === null ? null : requestKey(playerId, game, id),
        },
        // Without an id of the client's own a repeat would be another stake.
        (given) => id === null || !isTransient(given),
      )
    const answer = await (id === null ? once() : perhapsDoubled(deps, once))
    await goOn(deps, token, answer)
    await rest(deps)
  }
}

async function goOn(deps: ClientDeps, token: string, answer: Answer): Promise<void> {
  const { operator, random } = deps
  const played = round.safeParse(answer.body)
  if (answer.status === 201 && played.success) {
    if (played.data.status === 'OPEN') await openTiles(deps, token, played.data.round_id)
    return
  }
  const left = resource.safeParse(answer.body)
  const roundId = left.success ? left.data.resource.round_id : undefined
  if (roundId !== undefined && random.chance(0.4)) {
    await ask(deps, { what: 'action', id: roundId, path: `/rounds/${roundId}/void`, token: operator.token })
    return
  }
  if (codeOf(answer) !== 'ROUND_IN_PROGRESS' && !isTransient(answer)) return
  const seen = await send('GET', `${operator.base}/game/session`, { token })
  const open = sitting.safeParse(seen.body)
  if (seen.status !== 200 || !open.success || open.data.open_round === null) return
  if (open.data.open_round.status === 'OPEN') await openTiles(deps, token, open.data.open_round.round_id)
}

/** Opens some tiles and cashes out, or walks away. */
async function openTiles(deps: ClientDeps, token: string, roundId: string): Promise<void> {
  const { random, stopping } = deps
  const wanted = random.between(1, 4)
  for (let opened = 0; opened < wanted && !stopping.aborted; opened++) {
    const path = `/game/rounds/${roundId}/reveal`
    const body = { tile: random.between(0, tiles - 1) }
    const answer = await ask(deps, { what: 'action', id: roundId, path, token, body })
    if (answer.status !== 200 || answer.body.status !== 'OPEN') return
  }
  if (random.chance(0.04)) return
  await ask(deps, { what: 'action', id: roundId, path: `/game/rounds/${roundId}/cashout`, token })
}

/** Pages of different players choose the same ids, and some that the operator's server uses. */
function idOf(tab: string, number: number, random: Random): string {
  const isOfOperator = tab === firstTab && random.chance(0.1)
  return isOfOperator ? `bet.rich-op-0.worker1-${number}` : `stake.${tab}${number}`
}

function betOf(game: PlayerPlan['game'], random: Random): Record<string, unknown> {
  if (game === 'dice')
    return { target: random.pick(['50.00', '90.00', '10.00']), direction: random.pick(['over', 'under']) }
  if (game === 'mines') return { mines: random.pick([1, 3, 10]) }
  return { pick: random.between(0, 1), sectors: random.pick([2, 3, 6]) }
}
