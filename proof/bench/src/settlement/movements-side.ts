import { placeMovement } from '@pitboss/contracts/calls/wallet'
import { runLoad } from '../harness/run-load.ts'
import type { Side } from '../harness/run-pairs.ts'
import { byTurns } from './make-movement.ts'
import type { Bridge, BridgeOperator } from './start-bridge.ts'

/** Places stakes and wins by turns; the time ends when every event is in the stream and out of its outbox. */
export function movementsSide({ bus, published }: Bridge, { scope }: BridgeOperator): Side {
  return (concurrency, durationMs) => {
    const work = byTurns(async (spec) => {
      const { outcome } = await bus.call(placeMovement, { scope, spec })
      if (outcome.kind !== 'done') throw new Error(`a movement was ${outcome.kind}`)
    })
    return runLoad({ concurrency, durationMs, work, finish: published })
  }
}
