import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { PendingFigures, PendingMovements } from '../storage/pending-movements.ts'
import type { UnfinishedMovements } from '../storage/unfinished-movements.ts'

export type ReportPending = () => Promise<void>

const levels = [
  { name: '24h', count: (figures: PendingFigures) => figures.over24h },
  { name: '1h', count: (figures: PendingFigures) => figures.over1h },
  { name: '5m', count: (figures: PendingFigures) => figures.over5m },
] as const

/**
 * Sets the metrics of pending movements, and logs an alarm each time more of them than before are older than
 * 5 minutes, 1 hour or 24 hours. Source: docs/contract.md, section 5.
 */
export function createReportPending({
  pending,
  metrics,
  clock,
  logger,
}: {
  pending: PendingMovements
  metrics: { pending(counts: Omit<PendingFigures, 'oldest'> & { readonly oldestAgeS: number }): void }
  clock: Clock
  logger: Logger
}): ReportPending {
  const lastCounts = new Map<string, number>()

  return async function reportPending() {
    const now = clock.now()
    const figures = await pending.figures(now)
    const oldestAgeS =
      figures.oldest === null ? 0 : Math.floor((now.getTime() - figures.oldest.createdAt.getTime()) / 1000)
    metrics.pending({ ...figures, oldestAgeS })
    for (const { name, count } of levels) {
      const before = lastCounts.get(name) ?? 0
      lastCounts.set(name, count(figures))
      if (count(figures) <= before) continue
      logger.error(
        {
          older_than: name,
          movements: count(figures),
          oldest_age_s: oldestAgeS,
          oldest_reference: figures.oldest?.reference,
          operator_id: figures.oldest?.operatorId,
        },
        'movements.unresolved',
      )
    }
  }
}

export type ShortenWaits = () => Promise<void>

/**
 * Makes every credit and rollback due whose next try is later than the retry schedule allows for its age, as
 * after a clock that was ahead. Source: docs/contract.md, section 12.
 */
export function createShortenWaits({
  unfinished,
  wake,
  clock,
  logger,
}: {
  unfinished: Pick<UnfinishedMovements, 'endLongWaits'>
  /** Wakes the resolver. */
  wake: () => void
  clock: Clock
  logger: Logger
}): ShortenWaits {
  return async function shortenWaits() {
    const ended = unfinished.endLongWaits(clock.now())
    if (ended === 0) return
    logger.warn({ movements: ended }, 'movements.back-on-ladder')
    wake()
  }
}
