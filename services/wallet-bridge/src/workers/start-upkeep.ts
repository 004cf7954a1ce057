import { startPoll } from '@pitboss/runtime/poll'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { startFigures } from '@pitboss/storage/fold-figures'
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
  }: { db: Db; clockAheadMs: () => number; shortenWaits: () => Promise<void> },
) {
  const { logger } = context
  return [
    startPoll({
      ...{ event: 'movements.not-counted', everyMs: reportEveryMs, logger },
      work: createReportPending(context),
    }),
    startPoll({
      ...{ event: 'movements.not-held-to-ladder', everyMs: shortenEveryMs, logger },
      work: whileClockAgrees(clockAheadMs, shortenWaits),
    }),
    startFigures({ ...context, db, clockAheadMs, readFacts: (from) => readCalls(context, from) }),
  ]
}
