import { z } from 'zod'
import type { Cleanup } from '../harness/cleanup.ts'
import { expectStatus } from '../harness/http-client.ts'
import { mintToken, openSession, registerWallet } from '../harness/operator.ts'
import { createProductWorld } from '../harness/product-world.ts'
import { runLoad } from '../harness/run-load.ts'
import { type PairPlan, runPairs } from '../harness/run-pairs.ts'
import { startFloor } from '../harness/start-floor.ts'
import { startServer } from '../harness/start-part.ts'
import { renderComparisons } from '../harness/table.ts'

const played = z.object({ status: z.literal('SETTLED') })

/** A round of dice, half of them won, against one process that does the same writes, calls and publishes. */
export async function runRound(plan: PairPlan, cleanup: Cleanup, say: (text: string) => void) {
  const { url: walletUrl } = await startServer('round/wallet-main.ts', {}, cleanup)
  const callers = Math.max(...plan.concurrencies)
  const { engines, demo, http } = await createProductWorld({
    name: 'round',
    connections: callers,
    cleanup,
    say,
  })
  await registerWallet(http, demo, walletUrl)
  const token = await mintToken(http, demo)
  const players: string[] = []
  for (let index = 0; index < callers; index++) {
    const player = { player_id: `dicer-${index}`, game: 'dice', currency: 'USD' }
    players.push((await openSession(http, token, player)).launchToken)
  }
  const floor = await startFloor('round/floor-round-main.ts', { engines, walletUrl }, cleanup)

  const body = { stake: '1.00', bet: { target: '50.00', direction: 'over' }, client_seed: 'bench' }
  const play = async (caller: number) => {
    const answer = http.send('POST', '/v1/game/rounds', { token: players[caller] ?? '', body })
    played.parse(JSON.parse(await expectStatus(201, answer)))
  }
  const comparisons = await runPairs(
    plan,
    {
      product: (concurrency, durationMs) => runLoad({ concurrency, durationMs, work: play }),
      floor,
    },
    say,
  )
  return { result: { engines: engines.kinds, comparisons }, text: renderComparisons(comparisons) }
}
