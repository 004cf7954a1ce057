import { z } from 'zod'
import { DemoError, expectAnswer, roundAnswer, type Round } from '../answers.ts'
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

const triesMax = 60

/**
 * Plays until a round ends as wanted; the rounds before it are fair rounds too, just not shown.
 * @throws DemoError
 */
async function playUntil(
  wanted: 'lost' | 'won',
  play: () => Promise<Round>,
  before: () => Promise<void>,
): Promise<Round> {
  for (let tries = 0; tries < triesMax; tries++) {
    await before()
    const round = await play()
    if ((round.outcome?.won === true) === (wanted === 'won')) return round
  }
  throw new DemoError(`no ${wanted} round in ${triesMax}`)
}
