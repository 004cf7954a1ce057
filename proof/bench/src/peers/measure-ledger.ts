import type { Cleanup } from '../harness/cleanup.ts'
import type { Measured } from '../harness/measured.ts'
import { type PairPlan, runPairs } from '../harness/run-pairs.ts'
import { startFloor } from '../harness/start-floor.ts'
import { renderComparisons } from '../harness/table.ts'
import { movementsSide } from '../settlement/movements-side.ts'
import { startBridge } from '../settlement/start-bridge.ts'

/**
 * Stakes and wins by turns through wallet-bridge, with a wallet that answers at once, against entries of
 * `medici`, a double-entry ledger on MongoDB, on the same engine. Ours calls the wallet, refuses an id that
 * it has and tells an event; medici writes three documents in two inserts.
 */
export async function measureLedger(
  plan: PairPlan,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  say('ledger: starting engines and wallet-bridge')
  const bridge = await startBridge(cleanup)
  const product = movementsSide(bridge, await bridge.addOperator('mover'))
  const floor = await startFloor('../peers/medici-main.ts', bridge, cleanup)
  const comparisons = await runPairs(plan, { product, floor }, say)
  return {
    result: { engines: bridge.engines.kinds, comparisons },
    text: `Movements with their wallet calls and events; the floor is medici's entries

${renderComparisons(comparisons)}`,
  }
}
