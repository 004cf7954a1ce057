import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'

/** Runs `work` about once a second until stopped; a failure is logged and tried again. `stop()` waits for the run under way. */
export function everySecond({
  name,
  work,
  logger,
}: {
  name: string
  work: () => Promise<void>
  logger: Logger
}) {
  const stopping = new AbortController()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      try {
        await work()
      } catch (err) {
        logger.warn({ err, worker: name }, 'worker.failed')
      }
      await delay(1000, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const done = loop()
  return {
    async stop(): Promise<void> {
      stopping.abort()
      await done
    },
  }
}
