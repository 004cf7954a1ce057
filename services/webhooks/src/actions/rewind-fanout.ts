import type { Bus } from '@pitboss/bus/connect-bus'
import { acknowledgedSequence } from '@pitboss/bus/consume-durable'
import { webhooksFanout } from '@pitboss/bus/topology'
import type { RewindStore } from '@pitboss/storage/rewind-store'

export type RewindFanout = ReturnType<typeof createRewindFanout>

/** Counts what a rewind of the fan-out consumer repairs. Source: docs/contract.md, section 10. */
export function createRewindFanout({ bus, rewinds }: { bus: Bus; rewinds: RewindStore }) {
  const { stream, config } = webhooksFanout
  return {
    start: rewinds.start,
    /** @throws ServiceError NOT_FOUND */
    show: async (rewindId: string) =>
      rewinds.progress(rewindId, await acknowledgedSequence(bus, stream, config.durable_name)),
  }
}
