import { setTimeout as delay } from 'node:timers/promises'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { z } from 'zod'
import { expectStatus, type HttpClient } from '../harness/http-client.ts'
import { openSession } from '../harness/operator.ts'

const openedTogether = 32
const tellEvery = 5000
const pauseMs = 50
const round = z.object({ round_id: z.string() })

/** An unfinished round: a board of mines whose player has picked nothing. */
export type Board = { readonly token: string; readonly roundId: string }

/** Opens a board for each of `count` new players. */
export async function openBoards(
  http: HttpClient,
  token: string,
  count: number,
  say: (text: string) => void,
): Promise<Board[]> {
  let opened = 0
  return mapBounded(
    Array.from({ length: count }, (_, player) => player),
    openedTogether,
    async (player) => {
      const seat = { player_id: `board-${player}`, game: 'mines', currency: 'USD' }
      const { launchToken } = await openSession(http, token, seat)
      const body = { stake: '1.00', bet: { mines: 3 }, client_seed: 'bench' }
      const text = await expectStatus(201, http.send('POST', '/v1/game/rounds', { token: launchToken, body }))
      opened += 1
      if (opened % tellEvery === 0) say(`${opened} rounds are unfinished`)
      return { token: launchToken, roundId: round.parse(JSON.parse(text)).round_id }
    },
  )
}

/**
 * Picks a tile of each board, again until it is answered. @returns after how many milliseconds the last was
 */
export async function goOn(http: HttpClient, boards: readonly Board[]): Promise<number> {
  const beganAtMs = performance.now()
  await Promise.all(
    boards.map(async ({ token, roundId }) => {
      const pick = () =>
        http.send('POST', `/v1/game/rounds/${roundId}/reveal`, { token, body: { tile: 0 } }).then(
          ({ status }) => status === 200,
          () => false,
        )
      while (!(await pick())) await delay(pauseMs)
    }),
  )
  return performance.now() - beganAtMs
}
