import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { OverlongWaits } from '../storage/overlong-waits.ts'

const everyMs = 60_000

/**
 * Holds every waiting movement to the ladder, at the start and once a minute: while a deployment runs, a
 * replica of an earlier build may go on to write waits that are too long. Source: contract section 12.
 */
export function startLadderUpkeep({
  overlong,
  wake,
  clock,
  logger,
}: {
  overlong: OverlongWaits
  /** Tells every resolver that something became due. */
  wake: () => void
  clock: Clock
  logger: Logger
}): { stop(): Promise<void> } {
  const stopping = new AbortController()

  async function look(): Promise<void> {
    const ended = await overlong.end(clock.now())
    if (ended === 0) return
    logger.warn({ movements: ended }, 'movements.back-on-ladder')
    wake()
  }

  const loop = async () => {
    while (!stopping.signal.aborted) {
      await look().catch((err: unknown) => logger.error({ err }, 'movements.not-held-to-ladder'))
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const done = loop()
  return {
    async stop() {
      stopping.abort()
      await done
    },
  }
}
