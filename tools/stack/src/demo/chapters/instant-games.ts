import { z } from 'zod'
import { DemoError, expectAnswer } from '../demo-http.ts'
import { playUntil } from '../play-until.ts'
import type { Chapter } from '../tour.ts'

const playerSession = z.looseObject({
  next_round: z.looseObject({ server_seed_hash: z.string(), nonce: z.number() }),
})
const bets = {
  dice: { target: '50.00', direction: 'over' },
  'spin-bottle': { pick: 0, sectors: 2 },
} as const

/** A lost and a won round of each game that ends at once, with the commitment seen before the bet. */
export const instantGames: Chapter = async ({
  api,
  log,
  run,
  wallet,
  receiver,
  open,
  play,
  settled,
  tell,
}) => {
  for (const game of ['dice', 'spin-bottle'] as const) {
    const player = `demo-${run}-${game}`
    log.step(`A session of ${game}`, `POST /v1/sessions for player ${player}`)
    const { session, playerToken } = await open(game, player)
    log.happened(`${session.session_id}; the launch link carries the player's token in its fragment`)
    await receiver.show('game.session.created', session.session_id)
    for (const wanted of ['lost', 'won'] as const) {
      log.step(
        `A ${wanted} round of ${game}`,
        'GET /v1/game/session shows the commitment, then POST /v1/game/rounds; fair rounds until one is as wanted',
      )
      const playOne = async () => {
        const { next_round } = await expectAnswer(200, playerSession, 'GET', `${api}/game/session`, {
          token: playerToken,
        })
        const body = { stake: '1.00', bet: bets[game], client_seed: `demo-${run}` }
        const round = await settled(playerToken, await play(playerToken, body))
        if (round.fairness.server_seed_hash !== next_round.server_seed_hash)
          throw new DemoError(`round ${round.round_id} was not played with the seed that was committed to`)
        return round
      }
      const round = await playUntil(wanted, playOne, () => wallet.skip())
      log.happened(
        `nonce ${round.fairness.nonce} was committed to before the bet: ${round.fairness.server_seed_hash.slice(0, 16)}…`,
      )
      await tell(round)
    }
  }
}
