import type { DemoFile } from '@pitboss/stack/demo-file'
import { z } from 'zod'
import { createHttpClient, expectStatus } from '../harness/http-client.ts'
import { mintToken, openSession } from '../harness/operator.ts'

const roundPlayed = z.object({ round_id: z.string(), status: z.string() })
const perGame = 8
const bets = {
  dice: { target: '50.00', direction: 'over' },
  mines: { mines: 3 },
  'spin-bottle': { pick: 0, sectors: 2 },
} as const
type Game = keyof typeof bets
const games = Object.keys(bets) as readonly Game[]

/** Rounds that were really played, the players of each with a name that nothing else has. */
export type Samples = Readonly<Record<Game, readonly string[]>>

/**
 * Plays rounds of each game, and some whose wallet refuses or is silent, so that lists have their rare rows.
 * @returns the ids of the rounds to copy
 */
export async function playSamples(demo: DemoFile): Promise<Samples> {
  const http = createHttpClient(demo.base_url, 1)
  const token = await mintToken(http, demo)

  const play = async (game: Game, player: string, status = 201) => {
    const { launchToken } = await openSession(http, token, { player_id: player, game, currency: 'USD' })
    const body = { stake: '1.00', bet: bets[game], client_seed: 'bench' }
    const text = await expectStatus(
      status,
      http.send('POST', '/v1/game/rounds', { token: launchToken, body }),
    )
    if (status !== 201) return ''
    const { round_id: id, status: state } = roundPlayed.parse(JSON.parse(text))
    if (state === 'OPEN') {
      const path = `/v1/game/rounds/${id}`
      const revealed = await expectStatus(
        200,
        http.send('POST', `${path}/reveal`, { token: launchToken, body: { tile: 7 } }),
      )
      if (roundPlayed.parse(JSON.parse(revealed)).status === 'OPEN')
        await expectStatus(200, http.send('POST', `${path}/cashout`, { token: launchToken }))
    }
    return id
  }
  const samples: Record<Game, string[]> = { dice: [], mines: [], 'spin-bottle': [] }
  for (const game of games)
    for (let count = 0; count < perGame; count++)
      samples[game].push(await play(game, `sample-of-${game}-${count}-`))
  await setFaults(demo, [
    { player_id: 'refused', operation: 'debit', kind: 'refuse', code: 'INSUFFICIENT_FUNDS' },
  ])
  await play('dice', 'refused', 402)
  await setFaults(demo, [])
  await http.close()
  return samples
}

async function setFaults(demo: DemoFile, rules: readonly object[]): Promise<void> {
  const answer = await fetch(`${demo.wallet.url}/sandbox/faults`, {
    method: 'PUT',
    body: JSON.stringify({ rules }),
  })
  if (!answer.ok) throw new Error(`the sandbox wallet answered ${answer.status}`)
}
