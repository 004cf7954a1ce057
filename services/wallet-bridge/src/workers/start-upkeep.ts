import type { Clock } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import { startPoll } from '@pitboss/runtime/poll'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { figuresLeaseTtlMs, startFigures } from '@pitboss/storage/fold-figures'
import { createLease } from '@pitboss/storage/lease'
import type { Db } from 'mongodb'
import type { Logger } from 'pino'
import type { Jobs } from '../actions/create-jobs.ts'
import type { ReportPending, ShortenWaits } from '../actions/watch-pending.ts'
import { startCertifier } from './certifier.ts'
import { startReconciler } from './reconciler.ts'

const reportEveryMs = 5000
const shortenEveryMs = 60_000

/**
 * Starts the work of the service that calls no wallet for a player: the watch of movements that wait, the
 * figures of calls, and the jobs that people order.
 */
export function startUpkeep({
  reportPending,
  shortenWaits,
  foldFigures,
  jobs,
  db,
  clock,
  clockAheadMs,
  logger,
}: {
  reportPending: ReportPending
  shortenWaits: ShortenWaits
  foldFigures: () => Promise<boolean>
  jobs: Jobs
  /** Where the leases are kept. */
  db: Db
  clock: Clock
  clockAheadMs: () => number
  logger: Logger
}) {
  const leaseOf = (name: string, ttlMs: number) =>
    createLease({ db, name, owner: newId('rep'), ttlMs, clock, clockAheadMs })
  const certifier = startCertifier({ ...jobs.certification.work, clock, clockAheadMs, logger })
  const reconciler = startReconciler({ ...jobs.reconciliation.work, clock, clockAheadMs, logger })
  const all = [
    startPoll({ event: 'movements.not-counted', everyMs: reportEveryMs, work: reportPending, logger }),
    startPoll({
      event: 'movements.not-held-to-ladder',
      everyMs: shortenEveryMs,
      work: whileClockAgrees(clockAheadMs, shortenWaits),
      logger,
    }),
    startFigures({ fold: foldFigures, lease: leaseOf('figures', figuresLeaseTtlMs), logger }),
    certifier,
    reconciler,
  ]
  return {
    wakeCertifier: certifier.wake,
    wakeReconciler: reconciler.wake,
    /** Resolves when all of it has ended. */
    stop: () => Promise.all(all.map((one) => one.stop())),
  }
}
