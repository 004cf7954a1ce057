import type { Movement, Round } from './rows.ts'

/** The key under which a page's request is noted: its id is that of one player and game alone. */
export function requestKey(playerId: string, game: string, id: string): string {
  return `${playerId}/${game}/${id}`
}

/** The key of the request that opened a game round; null where it had no id. */
export function requestOf({ driver, player_id, game, client_transaction_id: id }: Round): string | null {
  return driver === 'game' && typeof id === 'string' ? requestKey(player_id, game, id) : null
}

/** Movements by their ids, and stakes of game rounds by the keys of their requests, too. */
export function movementsByRequest({
  movements,
  rounds,
}: {
  readonly movements: readonly Movement[]
  readonly rounds: readonly Round[]
}): Map<string, Movement> {
  const stakes = new Map(
    movements.flatMap((movement) => (movement.type === 'BET' ? [[movement.round_id, movement]] : [])),
  )
  const byKey = rounds.flatMap((round): [string, Movement][] => {
    const [key, stake] = [requestOf(round), stakes.get(round.round_id)]
    return key === null || stake === undefined ? [] : [[key, stake]]
  })
  return new Map([
    ...movements.map((movement): [string, Movement] => [movement.transaction_id, movement]),
    ...byKey,
  ])
}
