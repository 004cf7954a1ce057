import type { Bus } from '@pitboss/bus/connect-bus'
import { acknowledgedSequence } from '@pitboss/bus/consume-durable'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { roundsMovements } from '@pitboss/bus/topology'
import { movementsRewind } from '@pitboss/contracts/calls/rounds'
import type { RewindStore } from '@pitboss/storage/rewind-store'

const { stream, config } = roundsMovements

/** Calls of operations that rewind the consumer of movements. Source: docs/contract.md, section 10. */
export function createRewindHandlers({ rewinds, bus }: { rewinds: RewindStore; bus: Bus }): CallHandler[] {
  return [
    handler(movementsRewind.start, (request) => rewinds.start(request)),
    handler(movementsRewind.show, async ({ rewindId }) =>
      rewinds.progress(rewindId, await acknowledgedSequence(bus, stream, config.durable_name ?? '')),
    ),
  ]
}
