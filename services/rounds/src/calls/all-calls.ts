import type { Bus } from '@pitboss/bus/connect-bus'
import type { CallHandler } from '@pitboss/bus/serve-calls'
import type { Clock } from '@pitboss/runtime/clock'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { RewindStore } from '@pitboss/storage/rewind-store'
import type { RewriteSeals } from '@pitboss/storage/rewrite-seals'
import type { Actions } from '../actions/create-actions.ts'
import type { PlaceTransaction } from '../actions/place-transaction.ts'
import type { WatchReturns } from '../actions/watch-returns.ts'
import { createFreeBetHandlers } from './free-bets.ts'
import { createGameHandlers } from './games.ts'
import { createPlayerLimitHandlers } from './player-limits.ts'
import { createStopHandlers } from './player-stops.ts'
import { createPlayerHandlers } from './player.ts'
import { createPlayerDataHandlers, createPlayerDeskHandlers } from './players.ts'
import { createReceiptHandlers } from './receipts.ts'
import { createReportHandlers } from './reports.ts'
import { createReturnHandlers } from './returns.ts'
import {
  createRepublishHandlers,
  createRestoreHandlers,
  createRewindHandlers,
  createRoundHandlers,
  createTransactionHandlers,
} from './rounds.ts'
import { sealCalls } from './seals.ts'
import { createSessionHandlers } from './sessions.ts'

type Given = Actions & {
  placeTransaction: PlaceTransaction
  watchReturns: WatchReturns
  seals: RewriteSeals
  rewinds: RewindStore
  audit: Pick<AuditOutbox, 'entry'>
  bus: Bus
  clock: Clock
}

/** Every call that the service answers. */
export function allCalls(given: Given): CallHandler[] {
  const { reads, readPlayerRounds, readPlayers, watchReturns, seals } = given
  return [
    ...createGameHandlers(given),
    ...createSessionHandlers(given),
    ...createRoundHandlers({ ...given, rounds: reads }),
    ...createRewindHandlers(given),
    ...createRepublishHandlers(given),
    ...createRestoreHandlers({ ...given, rounds: reads }),
    ...createTransactionHandlers(given),
    ...sealCalls(seals),
    ...createFreeBetHandlers(given),
    ...createStopHandlers(given),
    ...createPlayerLimitHandlers(given),
    ...createPlayerDeskHandlers({ ...given, players: readPlayers }),
    ...createPlayerDataHandlers(given),
    ...createReceiptHandlers(given),
    ...createReportHandlers(given),
    ...createReturnHandlers({ watch: watchReturns }),
    ...createPlayerHandlers({ ...given, rounds: readPlayerRounds }),
  ]
}
