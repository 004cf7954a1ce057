import type { Logger } from 'pino'
import type { EndpointStore } from '../storage/endpoint-store.ts'

const writeEveryMs = 1000

/** Times of the last success at endpoints where a success changes nothing else: kept here and written together now and then. */
export type SuccessNotes = {
  note(webhookId: string, at: Date): void
  /** Writes what is kept. What cannot be written is kept for the next time. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** A crash loses the last second of it, which counts against an endpoint only when a whole schedule has failed since. */
export function createSuccessNotes({
  endpoints,
  logger,
}: {
  endpoints: EndpointStore
  logger: Logger
}): SuccessNotes {
  let notes = new Map<string, Date>()
  const keep = (webhookId: string, at: Date) => {
    const kept = notes.get(webhookId)
    if (kept === undefined || kept < at) notes.set(webhookId, at)
  }

  async function flush(): Promise<void> {
    if (notes.size === 0) return
    const written = notes
    notes = new Map()
    try {
      await endpoints.noteSuccesses(written)
    } catch (err) {
      for (const [webhookId, at] of written) keep(webhookId, at)
      logger.warn({ err, endpoints: written.size }, 'successes.not-noted')
    }
  }
  const timer = setInterval(() => void flush(), writeEveryMs)

  return {
    note: keep,
    flush,
    stop() {
      clearInterval(timer)
      return flush()
    },
  }
}
