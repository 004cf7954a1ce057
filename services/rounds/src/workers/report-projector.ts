import { setTimeout as delay } from 'node:timers/promises'
import type { Lease } from '@pitboss/storage/lease'
import type { Logger } from 'pino'
import type { ReportsStore } from '../storage/reports-store.ts'

const idleMs = 1000
const catchUpPassesMax = 5

export type ReportProjector = {
  /** Counts what waits now, a bounded number of batches. */
  catchUp(): Promise<void>
  stop(): Promise<void>
}

/**
 * Keeps reports up to date. One replica at a time does so, by a lease that only saves double work: the sums are right without it.
 */
export function startReportProjector({
  reports,
  lease,
  logger,
}: {
  reports: ReportsStore
  lease: Lease
  logger: Logger
}): ReportProjector {
  const stopping = new AbortController()
  let token: number | null = null

  async function hold(): Promise<boolean> {
    if (token !== null && (await lease.renew(token))) return true
    token = await lease.acquire()
    return token !== null
  }

  const loop = async () => {
    while (!stopping.signal.aborted) {
      try {
        if (await hold()) while (!stopping.signal.aborted && (await reports.applyFacts()) > 0);
      } catch (err) {
        logger.error({ err }, 'reports.failed')
      }
      await delay(idleMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
    if (token !== null) await lease.release(token).catch(() => undefined)
  }
  const done = loop()

  return {
    async catchUp() {
      for (let pass = 0; pass < catchUpPassesMax; pass++) {
        if ((await reports.applyFacts()) === 0) return
      }
    },
    async stop() {
      stopping.abort()
      await done
    },
  }
}
