import { randomUUID } from 'node:crypto'
import { type Bus, connectServiceBus } from '@pitboss/bus/connect-bus'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { newServerSeed } from '@pitboss/fairness/new-server-seed'
import { seedHash } from '@pitboss/fairness/seed-hash'
import { type Clock, systemClock, createTimeScale } from '@pitboss/runtime/clock'
import { createMailbox } from '@pitboss/runtime/mailbox'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { connectServiceStorage, type Storage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { idempotencyKeyIndexes } from '@pitboss/storage/idempotency-keys'
import { openKeyring } from '@pitboss/storage/keyring'
import { createLease, leaseIndexes } from '@pitboss/storage/lease'
import { createOutbox } from '@pitboss/storage/outbox'
import { createRewindStore, rewindIndexes } from '@pitboss/storage/rewind-store'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createActOnRound } from './actions/act-on-round.ts'
import { createChangeGame } from './actions/change-game.ts'
import { createCloseSession } from './actions/close-session.ts'
import { createGameAccess } from './actions/game-access.ts'
import { createGrantFreeBets } from './actions/grant-free-bets.ts'
import { createJoinMovement } from './actions/join-movement.ts'
import { createLateMovementHandler } from './actions/late-movement.ts'
import { createOpenIntent } from './actions/open-intent.ts'
import { createOpenSession } from './actions/open-session.ts'
import { createPlaceStake } from './actions/place-stake.ts'
import { createPlaceTransaction, type PlaceTransaction } from './actions/place-transaction.ts'
import { createPlayRound } from './actions/play-round.ts'
import { createPlayerAccess } from './actions/player-session.ts'
import { createReadFreeBets } from './actions/read-free-bets.ts'
import { createReadGames } from './actions/read-games.ts'
import { createReadPlayerRounds } from './actions/read-player-rounds.ts'
import { createReadReport } from './actions/read-reports.ts'
import { createReadRounds } from './actions/read-rounds.ts'
import { createReadSessions } from './actions/read-sessions.ts'
import { createRecoverRound, createSweepRounds } from './actions/recover-round.ts'
import { createRoundActor } from './actions/round-actor.ts'
import { createSettleRound } from './actions/settle-round.ts'
import { createShowPlayer } from './actions/show-player.ts'
import { createVoidRound } from './actions/void-round.ts'
import { createFreeBetHandlers } from './calls/free-bets.ts'
import { createGameHandlers } from './calls/games.ts'
import { createPlayerHandlers } from './calls/player.ts'
import { createReportHandlers } from './calls/reports.ts'
import { createRewindHandlers } from './calls/rewinds.ts'
import { createRoundHandlers } from './calls/rounds.ts'
import { createSessionHandlers } from './calls/sessions.ts'
import { createTransactionHandlers } from './calls/transactions.ts'
import { createWalletClient, type WalletClient } from './clients/wallet.ts'
import type { RoundsConfig } from './config.ts'
import { consumeMovements } from './consumers/movements.ts'
import { registerMetrics } from './metrics.ts'
import { type Catalogue, createCatalogue } from './rules/catalogue.ts'
import {
  commitmentIndexes,
  type CommitmentsStore,
  createCommitmentsStore,
} from './storage/commitments-store.ts'
import { createGamesStore } from './storage/games-store.ts'
import { createGrantsStore, grantIndexes } from './storage/grants-store.ts'
import { createRefusalsStore } from './storage/refusals-store.ts'
import { createReportsStore, reportIndexes } from './storage/reports-store.ts'
import { createRoundsStore, roundIndexes, type RoundsStore } from './storage/rounds-store.ts'
import { createSessionsStore, sessionIndexes } from './storage/sessions-store.ts'
import { startReportProjector } from './workers/report-projector.ts'
import { startSweeper } from './workers/sweeper.ts'

const service = 'rounds'
const version = '0.1.0'
const concurrencyMax = 512
const reportLeaseMs = 10_000

/** Parts that a proof may put something around; the product leaves them as they are. */
export type RoundsWrap = {
  rounds: (store: RoundsStore) => RoundsStore
  commitments: (store: CommitmentsStore) => CommitmentsStore
  wallet: (client: WalletClient) => WalletClient
  bus: (bus: Bus) => Bus
  placeTransaction: (place: PlaceTransaction, wallet: WalletClient) => PlaceTransaction
}

type RoundsOptions = {
  wrap?: Partial<RoundsWrap>
  bus: Bus
  storage: Pick<Storage, 'db' | 'clockAheadMs'>
  /** Text of `PITBOSS_MASTER_KEYS`. */
  masterKeys: string
  /** Divides abandonment times only. */
  timeScale: number
  logger: Logger
  registry?: Registry
  clock?: Clock
  catalogue?: Catalogue
}

/**
 * Wires the rounds service and starts its calls, sweeper, consumer, outboxes and reports. `stop()` lets what
 * is in flight end first.
 */
export async function startRounds({
  wrap = {},
  bus: plainBus,
  storage: { db, clockAheadMs },
  masterKeys,
  timeScale,
  logger,
  registry,
  clock = systemClock,
  catalogue = createCatalogue(),
}: RoundsOptions): Promise<{ stop(): Promise<void> }> {
  await ensureIndexes(
    db,
    {
      rounds: roundIndexes,
      commitments: commitmentIndexes,
      sessions: sessionIndexes,
      grants: grantIndexes,
      game_settings: [],
      game_status: [],
      ...reportIndexes,
      ...idempotencyKeyIndexes,
      ...leaseIndexes,
      ...rewindIndexes,
    },
    logger,
  )
  const bus = wrap.bus?.(plainBus) ?? plainBus
  const keyring = await openKeyring(db, masterKeys)
  const cursors = createCursorCodec({ keyring })
  const secretBox = createSecretBox(keyring, 'server-seeds')
  const { scaleMs } = createTimeScale(timeScale)

  const roundsStore = createRoundsStore({ db })
  const rounds = wrap.rounds?.(roundsStore) ?? roundsStore
  const refusals = createRefusalsStore({ db })
  const sessions = createSessionsStore({ db })
  const grants = createGrantsStore({ db })
  const games = createGamesStore({ db })
  const reports = createReportsStore({ db })
  const seeds = { newSeed: newServerSeed, hashSeed: seedHash }
  const commitmentsStore = createCommitmentsStore({ db, secretBox, ...seeds })
  const commitments = wrap.commitments?.(commitmentsStore) ?? commitmentsStore
  const roundOutbox = createOutbox({ collection: roundsStore.collection, bus, clock, logger })
  const sessionOutbox = createOutbox({ collection: sessions.collection, bus, clock, logger })
  const walletClient = createWalletClient({ bus })
  const wallet = wrap.wallet?.(walletClient) ?? walletClient

  const ids = { newId, newUuid: randomUUID }

  const actor = createRoundActor({
    rounds,
    commitments,
    wallet,
    outbox: roundOutbox,
    catalogue,
    mailbox: createMailbox(),
    clock,
    newId,
    scaleMs,
    logger,
  })
  const { settleRound, voidStake } = createSettleRound({ grants, wallet, actor, clock, logger })
  const placeStake = createPlaceStake({ rounds, wallet, actor, clock, logger })
  const joinMovement = createJoinMovement({ wallet, rounds, clock })
  const intents = createOpenIntent({ rounds, refusals, actor, clock })
  const access = createGameAccess({ catalogue, games })
  const players = createPlayerAccess({ sessions, rounds })
  const readGames = createReadGames({ catalogue, games, access, cursors })
  const readRounds = createReadRounds({ rounds, cursors })
  const playRound = createPlayRound({
    rounds,
    commitments,
    grants,
    wallet,
    actor,
    settleRound,
    access,
    players,
    intents,
    placeStake,
    joinMovement,
    clock,
    ...ids,
  })
  const place = createPlaceTransaction({
    rounds,
    sessions,
    commitments,
    wallet,
    actor,
    access,
    intents,
    placeStake,
    joinMovement,
    clock,
    ...ids,
  })
  const placeTransaction = wrap.placeTransaction?.(place, wallet) ?? place

  const lease = createLease({ db, name: 'reports', owner: newId('own'), ttlMs: reportLeaseMs, clock })
  const projector = startReportProjector({ applyFacts: reports.applyFacts, lease, logger })
  const stopOutboxes = [roundOutbox.start(), sessionOutbox.start()]
  const recover = createRecoverRound({ rounds, actor, settle: settleRound, clock, newId, scaleMs, logger })
  const sweeper = startSweeper({ sweep: createSweepRounds({ rounds, recover, clock }), logger })
  const rewinds = createRewindStore({ db, clock, newId })
  const handleLateMovement = createLateMovementHandler({ rounds, actor, recover, clock })
  const consumer = consumeMovements({ bus, handleLateMovement, rewinds, logger })
  if (registry !== undefined) registerMetrics(registry, rounds)

  const calls = await serveCalls({
    bus,
    service,
    version,
    concurrencyMax,
    clockAheadMs,
    logger,
    handlers: [
      ...createGameHandlers({ games: readGames, changes: createChangeGame({ games, access, clock }) }),
      ...createSessionHandlers({
        openSession: createOpenSession({ db, sessions, access, outbox: sessionOutbox, clock, newId }),
        sessions: createReadSessions({ sessions, cursors }),
        closeSession: createCloseSession({ sessions, rounds, scaleMs }),
        clock,
      }),
      ...createRoundHandlers({
        rounds: readRounds,
        voidRound: createVoidRound({ rounds, reads: readRounds, settleRound, voidStake, clock }),
      }),
      ...createRewindHandlers({ rewinds, bus }),
      ...createTransactionHandlers({ placeTransaction }),
      ...createFreeBetHandlers({
        grantFreeBets: createGrantFreeBets({ db, grants, access, newId }),
        freeBets: createReadFreeBets({ grants, cursors }),
        clock,
      }),
      ...createReportHandlers({ readReport: createReadReport({ reports, clock }) }),
      ...createPlayerHandlers({
        showPlayer: createShowPlayer({
          rounds,
          commitments,
          grants,
          wallet,
          players,
          games: readGames,
          clock,
        }),
        rounds: createReadPlayerRounds({ rounds, commitments, players, cursors }),
        playRound,
        actOnRound: createActOnRound({ players, actor, settleRound }),
      }),
    ],
  })

  return {
    async stop() {
      await calls.stop()
      await consumer.stop()
      await sweeper.stop()
      await projector.stop()
      await Promise.all(stopOutboxes.map((stop) => stop()))
    },
  }
}

/** Connects to the database and to NATS, and starts the service there. */
export async function runRounds({
  config,
  host,
  wrap = {},
}: {
  config: RoundsConfig
  host: ServiceHost
  wrap?: Partial<RoundsWrap>
}): Promise<RunningService> {
  const { logger, registry } = host
  const storage = await connectServiceStorage({ service, config, host })
  const bus = await connectServiceBus({ service, config, host })
  host.check('nats', () => bus.connected())
  const rounds = await startRounds({
    bus,
    storage,
    masterKeys: config.PITBOSS_MASTER_KEYS,
    timeScale: config.PITBOSS_TIME_SCALE,
    logger,
    registry,
    wrap,
  })
  return {
    async stop() {
      await rounds.stop()
      await bus.close()
      await storage.close()
    },
  }
}
