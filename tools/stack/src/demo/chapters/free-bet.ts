import { z } from 'zod'
import { expectAnswer } from '../demo-http.ts'
import type { Chapter } from '../tour.ts'

/** A round whose stake the operator gives away: no debit, only a credit. */
export const freeBet: Chapter = async ({ api, log, run, token, open, play, settled, tell }) => {
  log.step('A free bet', 'POST /v1/free-bets grants one dice round of 2.00 USD; the player uses it')
  const player = `demo-${run}-free`
  await expectAnswer(201, z.looseObject({ grant_id: z.string() }), 'POST', `${api}/free-bets`, {
    token,
    body: { player_id: player, game: 'dice', currency: 'USD', stake: '2.00', count: 1 },
  })
  const { playerToken } = await open('dice', player)
  const body = { stake: '2.00', bet: { target: '2.00', direction: 'over' }, free_bet: true }
  await tell(await settled(playerToken, await play(playerToken, body)))
}
