import type { Cleanup } from '../harness/cleanup.ts'
import { type PairPlan, runPairs } from '../harness/run-pairs.ts'
import { startFloor } from '../harness/start-floor.ts'
import { renderComparisons } from '../harness/table.ts'
import type { Measured } from '../harness/measured.ts'
import { movementsSide } from './movements-side.ts'
import { startBridge } from './start-bridge.ts'

/**
 * Stakes and wins by turns through wallet-bridge over NATS, with a wallet that answers at once, against one
 * process that does the same durable writes. On both sides the time ends when every event is in the stream.
 */
export async function measureMovements(
  plan: PairPlan,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  say('movements: starting engines and wallet-bridge')
  const bridge = await startBridge(cleanup)
  const product = movementsSide(bridge, await bridge.addOperator('mover'))
  const floor = await startFloor('settlement/floor-movement-main.ts', bridge, cleanup)
  const comparisons = await runPairs(plan, { product, floor }, say)
  return {
    result: { engines: bridge.engines.kinds, comparisons },
    text: `Movements, stake and win by turns (goal: ratio of at least 0.5)

${renderComparisons(comparisons)}`,
  }
}
