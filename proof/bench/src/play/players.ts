import { z } from 'zod'
import { expectStatus, type HttpClient } from '../harness/http-client.ts'
import { openSession } from '../harness/operator.ts'

export const gamesPlayed = ['dice', 'spin-bottle', 'mines'] as const
export type GamePlayed = (typeof gamesPlayed)[number]

const answered = z.object({ round_id: z.string(), status: z.string() })
const bets: Readonly<Record<GamePlayed, object>> = {
  dice: { target: '50.00', direction: 'over' },
  'spin-bottle': { pick: 0, sectors: 2 },
  mines: { mines: 3 },
}

/**
 * Seats of `count` players at one game.
 * @returns what plays one whole round for the player with this number.
 */
export async function seatPlayers({
  http,
  token,
  game,
  count,
}: {
  http: HttpClient
  token: string
  game: GamePlayed
  count: number
}): Promise<(player: number) => Promise<void>> {
  const tokens: string[] = []
  for (let player = 0; player < count; player++) {
    const seat = { player_id: playerName(game, player), game, currency: 'USD' }
    tokens.push((await openSession(http, token, seat)).launchToken)
  }
  const post = async (player: number, path: string, status: number, body?: object) => {
    const options = { token: tokens[player] ?? '', ...(body === undefined ? {} : { body }) }
    const text = await expectStatus(status, http.send('POST', `/v1/game/rounds${path}`, options))
    return answered.parse(JSON.parse(text))
  }
  return async (player) => {
    const opened = await post(player, '', 201, { stake: '1.00', bet: bets[game], client_seed: 'bench' })
    if (opened.status !== 'OPEN') return
    const revealed = await post(player, `/${opened.round_id}/reveal`, 200, { tile: player % 25 })
    if (revealed.status === 'OPEN') await post(player, `/${opened.round_id}/cashout`, 200)
  }
}

export function playerName(game: GamePlayed, player: number): string {
  return `${game}-${player}`
}
