import { newId } from '@pitboss/runtime/new-id'
import { startPoll } from '@pitboss/runtime/poll'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { createFoldFigures, figuresLeaseTtlMs, startFigures } from '@pitboss/storage/fold-figures'
import { createLease } from '@pitboss/storage/lease'
import { startJobWorkers } from '@pitboss/storage/start-job-workers'
import type { Db } from 'mongodb'
import { readCalls } from '../actions/read-call-series.ts'
import { runCertification } from '../actions/run-certification.ts'
import { runReconciliation } from '../actions/run-reconciliation.ts'
import { createReportPending } from '../actions/watch-pending.ts'
import type { WalletContext } from '../context.ts'

const reportEveryMs = 5000
const shortenEveryMs = 60_000
/** Each takes some calls at a time from a wallet; more orders wait their turn. */
const certificationsMax = 8
/** Each reads thousands of movements; more orders wait their turn. */
const reconciliationsMax = 2

/** Starts what calls no wallet for a player: alarms of pending movements, figures, and ordered jobs. */
export function startUpkeep(
  context: WalletContext,
  {
    db,
    clockAheadMs,
    shortenWaits,
  }: {
    db: Db
    clockAheadMs: () => number
    shortenWaits: () => Promise<void>
  },
) {
  const { figures, clock, logger } = context
  const lease = createLease({
    ...{ db, name: 'figures', owner: newId('rep'), ttlMs: figuresLeaseTtlMs, clock, clockAheadMs },
  })
  const certifier = startJobWorkers({
    ...{ jobs: context.certifications, placesMax: certificationsMax, event: 'certification.interrupted' },
    work: (held) => runCertification(context, held),
    ...{ clock, clockAheadMs, logger },
  })
  const reconciler = startJobWorkers({
    ...{ jobs: context.reconciliations, placesMax: reconciliationsMax, event: 'reconciliation.interrupted' },
    work: (held) => runReconciliation(context, held),
    ...{ clock, clockAheadMs, logger },
  })
  const all = [
    startPoll({
      ...{ event: 'movements.not-counted', everyMs: reportEveryMs, logger },
      work: createReportPending(context),
    }),
    startPoll({
      ...{ event: 'movements.not-held-to-ladder', everyMs: shortenEveryMs, logger },
      work: whileClockAgrees(clockAheadMs, shortenWaits),
    }),
    startFigures({
      fold: createFoldFigures({ figures, clock, readFacts: (from) => readCalls(context, from) }),
      ...{ lease, logger },
    }),
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
