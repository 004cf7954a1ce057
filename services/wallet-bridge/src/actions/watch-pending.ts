import type { WalletContext } from '../context.ts'
import type { PendingFigures } from '../storage/pending-movements.ts'
import type { UnfinishedMovements } from '../storage/unfinished-movements.ts'

const levels = [
  { name: '24h', count: (figures: PendingFigures) => figures.over24h },
  { name: '1h', count: (figures: PendingFigures) => figures.over1h },
  { name: '5m', count: (figures: PendingFigures) => figures.over5m },
] as const

/** Sets the metrics of pending movements; logs alarms as more get older than 5 min, 1 h or 24 h. */
export function createReportPending({
  pending,
  metrics,
  clock,
  logger,
}: Pick<WalletContext, 'pending' | 'metrics' | 'clock' | 'logger'>) {
  const lastCounts = new Map<string, number>()

  return async function reportPending(): Promise<void> {
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

/**
 * Makes due every credit and rollback whose next try is later than the schedule allows, as after a clock that
 * was ahead. Source: docs/contract.md, section 12.
 */
export async function shortenWaits(
  { clock, logger }: Pick<WalletContext, 'clock' | 'logger'>,
  unfinished: Pick<UnfinishedMovements, 'endLongWaits'>,
  wake: () => void,
): Promise<void> {
  const ended = unfinished.endLongWaits(clock.now())
  if (ended === 0) return
  logger.warn({ movements: ended }, 'movements.back-on-ladder')
  wake()
}
