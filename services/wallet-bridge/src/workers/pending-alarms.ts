import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { WalletMetrics } from '../metrics.ts'
import type { PendingFigures, PendingMovements } from '../storage/pending-movements.ts'

const everyMs = 5000
const levels = [
  { name: '24h', count: (figures: PendingFigures) => figures.over24h },
  { name: '1h', count: (figures: PendingFigures) => figures.over1h },
  { name: '5m', count: (figures: PendingFigures) => figures.over5m },
] as const

/**
 * Keeps the figures of unresolved movements up to date and logs an alarm whenever more of them pass 5 minutes, 1 hour or
 * 24 hours. Source: contract section 5.
 */
export function startPendingAlarms({
  pending,
  metrics,
  clock,
  logger,
}: {
  pending: PendingMovements
  metrics: WalletMetrics
  clock: Clock
  logger: Logger
}): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const told = new Map<string, number>()

  async function look(): Promise<void> {
    const now = clock.now()
    const figures = await pending.figures(now)
    const oldestAgeS =
      figures.oldest === null ? 0 : Math.floor((now.getTime() - figures.oldest.createdAt.getTime()) / 1000)
    metrics.pending({ ...figures, oldestAgeS })
    for (const { name, count } of levels) {
      const before = told.get(name) ?? 0
      told.set(name, count(figures))
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

  const loop = async () => {
    while (!stopping.signal.aborted) {
      await look().catch((err: unknown) => logger.error({ err }, 'movements.not-counted'))
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
