import type { Logger } from 'pino'
import type { EndpointStore } from '../storage/endpoint-store.ts'

/**
 * Times of the last success at endpoints where a success changes nothing else: kept in memory and written
 * together now and then.
 */
export type RecordSuccesses = {
  add(webhookId: string, at: Date): void
  /** Writes all times. Those that cannot be written are kept for the next time. Never rejects. */
  flush(): Promise<void>
}

/**
 * A crash loses what was added since the last flush. That counts against an endpoint only when a whole
 * schedule has failed since.
 */
export function createRecordSuccesses({
  endpoints,
  logger,
}: {
  endpoints: EndpointStore
  logger: Logger
}): RecordSuccesses {
  let times = new Map<string, Date>()
  const add = (webhookId: string, at: Date) => {
    const kept = times.get(webhookId)
    if (kept === undefined || kept < at) times.set(webhookId, at)
  }

  return {
    add,
    async flush() {
      if (times.size === 0) return
      const written = times
      times = new Map()
      try {
        await endpoints.noteSuccesses(written)
      } catch (err) {
        for (const [webhookId, at] of written) add(webhookId, at)
        logger.warn({ err, endpoints: written.size }, 'successes.not-noted')
      }
    },
  }
}
