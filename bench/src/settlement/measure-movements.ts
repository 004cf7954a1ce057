import { placeMovement } from '@pitboss/contracts/calls/wallet'
import type { Cleanup } from '../harness/cleanup.ts'
import { runLoad } from '../harness/run-load.ts'
import { type PairPlan, runPairs } from '../harness/run-pairs.ts'
import { sampleSchema } from '../harness/sample-schema.ts'
import { startPart } from '../harness/start-part.ts'
import { renderComparisons } from '../harness/table.ts'
import type { Measured } from '../harness/measured.ts'
import { byTurns } from './make-movement.ts'
import { startBridge } from './start-bridge.ts'

const answerMarginMs = 60_000

/**
 * Stakes and wins by turns through wallet-bridge over NATS, with a wallet that answers at once, against one process that does the same
 * durable writes. On both sides the time ends when every event is in the stream and out of its outbox.
 */
export async function measureMovements(
  plan: PairPlan,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  say('movements: starting engines and wallet-bridge')
  const { engines, bus, walletUrl, addOperator, published } = await startBridge(cleanup)
  const { scope } = await addOperator('mover')
  const { part: floor } = await startPart('settlement/floor-movement-main.ts', {
    MONGODB_URL: engines.mongodbUrl,
    NATS_URL: engines.natsUrl.floor,
    WALLET_URL: walletUrl,
  })
  cleanup.add(() => floor.stop())
  const comparisons = await runPairs(
    plan,
    {
      product(concurrency, durationMs) {
        const work = byTurns(async (spec) => {
          const { outcome } = await bus.call(placeMovement, { scope, spec })
          if (outcome.kind !== 'done') throw new Error(`a movement was ${outcome.kind}`)
        })
        return runLoad({ concurrency, durationMs, work, finish: published })
      },
      floor: async (concurrency, durationMs) =>
        sampleSchema.parse(await floor.ask({ concurrency, durationMs }, durationMs + answerMarginMs)),
    },
    say,
  )
  return {
    result: { engines: engines.kinds, comparisons },
    text: `Movements, stake and win by turns (goal: ratio of at least 0.5)

${renderComparisons(comparisons)}`,
  }
}
