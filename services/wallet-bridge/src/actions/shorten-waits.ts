import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { LongWaits } from '../storage/long-waits.ts'

export type ShortenWaits = () => Promise<void>

/**
 * Makes every credit and rollback due whose next try is later than the retry schedule allows for its age. A
 * replica of an earlier build may write such waits while a deployment runs. Source: docs/contract.md, section
 * 12.
 */
export function createShortenWaits({
  longWaits,
  wake,
  clock,
  logger,
}: {
  longWaits: LongWaits
  /** Wakes the resolver of every replica. */
  wake: () => void
  clock: Clock
  logger: Logger
}): ShortenWaits {
  return async function shortenWaits() {
    const ended = await longWaits.end(clock.now())
    if (ended === 0) return
    logger.warn({ movements: ended }, 'movements.back-on-ladder')
    wake()
  }
}
