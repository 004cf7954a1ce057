import { newId } from '@pitboss/runtime/new-id'
import { startPoll } from '@pitboss/runtime/poll'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { createFoldFigures, figuresLeaseTtlMs, startFigures } from '@pitboss/storage/fold-figures'
import { createLease } from '@pitboss/storage/lease'
import type { Db } from 'mongodb'
import { readCalls } from '../actions/read-call-series.ts'
import { createReportPending } from '../actions/watch-pending.ts'
import type { WalletContext } from '../context.ts'

const reportEveryMs = 5000
const shortenEveryMs = 60_000

/** Starts what calls no wallet for a player: alarms of pending movements, and figures. */
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
  return [
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
  ]
}
