import { roundAnswer } from '../demo-answers.ts'
import { expectAnswer } from '../demo-http.ts'
import { playUntil } from '../play-until.ts'
import type { Chapter } from '../tour.ts'

/** A lost and a cashed-out round of the game that is played in steps. */
export const minesGame: Chapter = async ({ api, log, run, wallet, open, play, settled, tell }) => {
  const { playerToken: token } = await open('mines', `demo-${run}-mines`)
  for (const wanted of ['lost', 'won'] as const) {
    const mines = wanted === 'lost' ? 20 : 1
    log.step(
      `A ${wanted} round of mines`,
      `${mines} bombs; open a tile${wanted === 'won' ? ', then cash out' : ''}`,
    )
    const playOne = async () => {
      const round = await play(token, { stake: '1.00', bet: { mines } })
      const url = `${api}/game/rounds/${round.round_id}`
      const opened = await expectAnswer(200, roundAnswer, 'POST', `${url}/reveal`, {
        token,
        body: { tile: 12 },
      })
      if (opened.status === 'OPEN') await expectAnswer(200, roundAnswer, 'POST', `${url}/cashout`, { token })
      return await settled(token, round)
    }
    await tell(await playUntil(wanted, playOne, () => wallet.skip()))
  }
}
