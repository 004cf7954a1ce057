import { placeMovement } from '@pitboss/contracts/calls/wallet'
import { runLoad } from '../harness/run-load.ts'
import type { Side } from '../harness/run-pairs.ts'
import { until } from '../harness/until.ts'
import { byTurns } from './make-movement.ts'
import type { Bridge, BridgeOperator } from './start-bridge.ts'

/**
 * Places stakes and wins by turns; the time ends when the event of each is recorded. That its entry is done
 * shows a second later, with the next beat of its instance, which is nobody's wait.
 */
export function movementsSide({ bus, recorded }: Bridge, { scope }: BridgeOperator): Side {
  return (concurrency, durationMs) => {
    const before = recorded()
    let done = 0
    const work = byTurns(async (spec) => {
      const { outcome } = await bus.call(placeMovement, { scope, spec })
      if (outcome.kind !== 'done') throw new Error(`a movement was ${outcome.kind}`)
      done += 1
    })
    const finish = () => until('the event of every movement', () => recorded() - before >= done)
    return runLoad({ concurrency, durationMs, work, finish })
  }
}
