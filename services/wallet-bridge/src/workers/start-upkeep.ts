import { type Poll, startPoll } from '@pitboss/runtime/poll'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { startFigures } from '@pitboss/storage/fold-figures'
import type { Storage } from '@pitboss/storage/connect-storage'
import { readCalls } from '../actions/read-call-series.ts'
import type { WalletContext } from '../context.ts'

const reportEveryMs = 5000
const shortenEveryMs = 60_000
const levels = { '24h': 'over24h', '1h': 'over1h', '5m': 'over5m' } as const

/** `wake` is the resolver's of this process. */
type Upkeep = Pick<Storage, 'db' | 'clockAheadMs'> &
  Pick<Poll, 'wake'> & { readonly endLongWaits: (now: Date) => number }

/** Starts what calls no wallet for a player: alarms of pending movements, and figures. */
export function startUpkeep(context: WalletContext, { db, clockAheadMs, endLongWaits, wake }: Upkeep) {
  const { clock, logger } = context
  const lastCounts = new Map<string, number>()

  /** Makes credits and rollbacks due that wait too long. Source: docs/contract.md, section 12. */
  async function shortenWaits(): Promise<void> {
    const ended = endLongWaits(clock.now())
    if (ended === 0) return
    logger.warn({ movements: ended }, 'movements.back-on-ladder')
    wake()
  }

  return [
    startPoll({
      ...{ event: 'movements.not-counted', everyMs: reportEveryMs, logger },
      work: () => reportPending(context, lastCounts),
    }),
    startPoll({
      ...{ event: 'movements.not-held-to-ladder', everyMs: shortenEveryMs, logger },
      work: whileClockAgrees(clockAheadMs, shortenWaits),
    }),
    startFigures({ ...context, db, clockAheadMs, readFacts: (from) => readCalls(context, from) }),
  ]
}

/** Sets the metrics of pending movements; logs alarms as more get older than 5 min, 1 h or 24 h. */
async function reportPending(context: WalletContext, lastCounts: Map<string, number>): Promise<void> {
  const { lists, metrics, clock, logger } = context
  const now = clock.now()
  const figures = await lists.figures(now)
  const { oldest } = figures
  const oldest_age_s = oldest === null ? 0 : Math.floor((now.getTime() - oldest.createdAt.getTime()) / 1000)
  metrics.pending(figures, oldest_age_s)
  const about = { oldest_age_s, oldest_reference: oldest?.reference, operator_id: oldest?.operatorId }
  for (const [name, field] of Object.entries(levels)) {
    const movements = figures[field]
    const before = lastCounts.get(name) ?? 0
    lastCounts.set(name, movements)
    if (movements > before) logger.error({ older_than: name, movements, ...about }, 'movements.unresolved')
  }
}
