import { createAskApproval } from '@pitboss/bus/ask-approval'
import type { Bus } from '@pitboss/bus/connect-bus'
import type { GrantsStore } from '../storage/grants-store.ts'
import type { PlayerLimitsStore } from '../storage/player-limits-store.ts'
import type { ReceiptsStore } from '../storage/receipts-store.ts'
import type { ReportsStore } from '../storage/reports-store.ts'
import type { SpendsStore } from '../storage/spends-store.ts'
import type { StopsStore } from '../storage/stops-store.ts'
import { createAnswerRealityCheck } from './answer-reality-check.ts'
import { createEndAsTold } from './end-as-told.ts'
import { createFreeBets } from './free-bets.ts'
import { createGames } from './games.ts'
import { createHealOrphans } from './heal-orphans.ts'
import type { ReadLimits } from './hold-limits.ts'
import type { Parts } from './parts.ts'
import { createPlayRound } from './play-round.ts'
import { createPlayerData } from './player-data.ts'
import { createPlayerLimits } from './player-limits.ts'
import { createPlayerStops } from './player-stops.ts'
import { createActOnRound, createReadPlayerRounds, createShowPlayer, type PlayerAccess } from './player.ts'
import { createReadPlayers } from './read-players.ts'
import { createReadReport } from './read-reports.ts'
import { createReadRounds } from './read-rounds.ts'
import { createReceipts } from './receipts.ts'
import { createResolveOwed } from './resolve-owed.ts'
import { createSessions } from './sessions.ts'
import { createTellEndAgain } from './tell-end-again.ts'
import { createVoidRound } from './void-round.ts'

type Given = Omit<Parts, 'grants'> & {
  players: PlayerAccess
  bus: Bus
  grants: GrantsStore
  stopsStore: StopsStore
  playerLimits: PlayerLimitsStore
  spends: SpendsStore
  receiptsStore: ReceiptsStore
  reading: ReadLimits
  reports: ReportsStore
  noteReceipt: Parameters<typeof createReceipts>[0]['noteReceipt']
}

export type Actions = ReturnType<typeof createActions>

/** Makes the actions behind the calls of the service, but for movements that the operator places. */
export function createActions(given: Given) {
  const { bus, stopsStore, receiptsStore, roundOutbox, sessionOutbox } = given
  const reads = createReadRounds(given)
  const games = createGames({ ...given, askApproval: createAskApproval({ bus, service: 'rounds' }) })
  const stops = createPlayerStops({ ...given, stops: stopsStore })
  const limits = createPlayerLimits(given)
  const sessions = createSessions({ ...given, stops, outbox: sessionOutbox })
  return {
    ...{ reads, games, stops, limits, sessions },
    voidRound: createVoidRound({ ...given, reads }),
    tellEndAgain: createTellEndAgain({ ...given, outbox: roundOutbox }),
    orphans: createHealOrphans(given),
    endAsTold: createEndAsTold(given),
    resolveOwed: createResolveOwed(given),
    freeBets: createFreeBets(given),
    readPlayers: createReadPlayers(given),
    playerData: createPlayerData({ ...given, stops: stopsStore, limits }),
    receipts: createReceipts({ ...given, receipts: receiptsStore }),
    readReport: createReadReport(given),
    showPlayer: createShowPlayer({ ...given, games }),
    realityCheck: createAnswerRealityCheck({ ...given, close: sessions.close }),
    readPlayerRounds: createReadPlayerRounds(given),
    playRound: createPlayRound(given),
    actOnRound: createActOnRound(given),
  }
}
