import { appendAudit, signStopRecord } from '@pitboss/contracts/calls/auth'
import { isAudited } from '@pitboss/contracts/defined-calls'
import { auditEntriesIndexes, createAuditOutbox } from '@pitboss/storage/audit-outbox'
import { randomUUID } from 'node:crypto'
import { createAskApproval } from '@pitboss/bus/ask-approval'
import { type CallTokenMode, createCallTokens, keysFromAuth } from '@pitboss/bus/call-tokens'
import { type Bus, connectServiceBus } from '@pitboss/bus/connect-bus'
import { eventsPosition } from '@pitboss/bus/consume-durable'
import { watchFullness } from '@pitboss/bus/watch-fullness'
import { createConsumerMetrics } from '@pitboss/bus/consumer-metrics'
import { roundsMovements } from '@pitboss/bus/topology'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { newServerSeed, seedHash } from '@pitboss/fairness/server-seed'
import { type Clock, createTimeScale, systemClock } from '@pitboss/runtime/clock'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { createMailbox } from '@pitboss/runtime/mailbox'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { connectServiceStorage, type Storage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { idempotencyKeyIndexes } from '@pitboss/storage/idempotency-keys'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createLease, leaseIndexes } from '@pitboss/storage/lease'
import { createOutbox } from '@pitboss/storage/outbox'
import { createOutboxMetrics } from '@pitboss/storage/outbox-metrics'
import { createRewindStore, rewindIndexes } from '@pitboss/storage/rewind-store'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createAdmitPlay } from './actions/admit-play.ts'
import { createAnswerRealityCheck } from './actions/answer-reality-check.ts'
import {
  createActOnRound,
  createPlayerAccess,
  createReadPlayerRounds,
  createShowPlayer,
} from './actions/player.ts'
import { createGameAccess, createGames } from './actions/games.ts'
import { createCommitAhead } from './actions/commit-ahead.ts'
import { createSessions } from './actions/sessions.ts'
import { createFreeBets } from './actions/free-bets.ts'
import { createEndAsTold } from './actions/end-as-told.ts'
import { createHealOrphans } from './actions/heal-orphans.ts'
import { createHoldLimits, createReadLimits } from './actions/hold-limits.ts'
import { createHoldPace } from './actions/hold-pace.ts'
import { createJoinMovement } from './actions/join-movement.ts'
import { createLateMovementHandler, createRecoverRound, createSweepRounds } from './actions/recover-round.ts'
import { createOpenIntent } from './actions/open-intent.ts'
import { createPlaceStake } from './actions/place-stake.ts'
import { createPlaceTransaction, type PlaceTransaction } from './actions/place-transaction.ts'
import { createPlayerData } from './actions/player-data.ts'

import { createPlayerLimits } from './actions/player-limits.ts'
import { createPlayerStops } from './actions/player-stops.ts'
import { createPlayRound } from './actions/play-round.ts'
import { createReadPlayers } from './actions/read-players.ts'
import { createReadReport } from './actions/read-reports.ts'
import { createReceipts } from './actions/receipts.ts'
import { createReadRounds } from './actions/read-rounds.ts'
import { createRoundActor } from './actions/round-actor.ts'
import { createSettleRound } from './actions/settle-round.ts'
import { createTellEndAgain } from './actions/tell-end-again.ts'
import { createSignStops } from './actions/sign-stops.ts'
import { createVoidRound } from './actions/void-round.ts'
import { type AlarmRule, createWatchReturns } from './actions/watch-returns.ts'
import { createFreeBetHandlers } from './calls/free-bets.ts'
import { createGameHandlers } from './calls/games.ts'
import { createPlayerHandlers } from './calls/player.ts'
import { createPlayerLimitHandlers } from './calls/player-limits.ts'
import { createStopHandlers } from './calls/player-stops.ts'
import { createPlayerDataHandlers, createPlayerDeskHandlers } from './calls/players.ts'
import { createReceiptHandlers } from './calls/receipts.ts'
import { createReportHandlers } from './calls/reports.ts'
import { createReturnHandlers } from './calls/returns.ts'
import {
  createRepublishHandlers,
  createRestoreHandlers,
  createRewindHandlers,
  createRoundHandlers,
  createTransactionHandlers,
} from './calls/rounds.ts'
import { sealCalls } from './calls/seals.ts'
import { createSessionHandlers } from './calls/sessions.ts'
import { hearLateness } from './clients/hear-lateness.ts'
import { createWalletClient, type WalletClient } from './clients/wallet.ts'
import type { RoundsConfig } from './config.ts'
import { consumeMovements } from './consumers/movements.ts'
import {
  countRoundStates,
  createConflictNote,
  createReceiptNote,
  createYieldNote,
  registerMetrics,
} from './metrics.ts'
import { type Catalogue, createCatalogue } from './rules/catalogue.ts'
import { transition } from './rules/transition.ts'
import {
  assertSeedsOpen,
  commitmentIndexes,
  type CommitmentsStore,
  createCommitmentsStore,
} from './storage/commitments-store.ts'
import { createGamesStore, gameIndexes } from './storage/games-store.ts'
import { createGrantsStore, grantIndexes, type GrantsStore } from './storage/grants-store.ts'
import { createKeysStore } from './storage/keys-store.ts'
import { createPacesStore, paceIndexes } from './storage/paces-store.ts'
import { createPlayerLimitsStore, playerLimitIndexes } from './storage/player-limits-store.ts'
import { createReceiptsStore, receiptPurpose } from './storage/receipts-store.ts'
import { createRefusalsStore, type RefusalsStore } from './storage/refusals-store.ts'
import { rememberLast } from './storage/remember-last.ts'
import { createReportsStore, reportIndexes, type ReportsStore } from './storage/reports-store.ts'
import { createReturnsFold } from './storage/returns-fold.ts'
import { createReturnsStore, returnIndexes } from './storage/returns-store.ts'
import { createRoundsStore, roundIndexes, type RoundsStore } from './storage/rounds-store.ts'
import { sealedPlaces } from './storage/sealed-places.ts'
import { createSessionsStore, sessionIndexes } from './storage/sessions-store.ts'
import { createSpendsStore } from './storage/spends-store.ts'
import { createStopsStore, stopIndexes } from './storage/stops-store.ts'
import { startReportProjector } from './workers/report-projector.ts'
import { startStopSigner } from './workers/stop-signer.ts'
import { startStopSettler } from './workers/stop-settler.ts'
import { startSweeper } from './workers/sweeper.ts'

const service = 'rounds'
const version = '0.1.0'
const concurrencyMax = 512
const reportLeaseMs = 10_000

/** Parts that a proof may put something around; the product leaves them as they are. */
export type RoundsWrap = {
  rounds: (store: RoundsStore) => RoundsStore
  commitments: (store: CommitmentsStore) => CommitmentsStore
  grants: (store: GrantsStore) => GrantsStore
  refusals: (store: RefusalsStore) => RefusalsStore
  reports: (store: ReportsStore) => ReportsStore
  rules: typeof transition
  catalogue: (catalogue: Catalogue) => Catalogue
  wallet: (client: WalletClient) => WalletClient
  bus: (bus: Bus) => Bus
  placeTransaction: (place: PlaceTransaction, wallet: WalletClient) => PlaceTransaction
}

type RoundsOptions = {
  wrap?: Partial<RoundsWrap>
  bus: Bus
  storage: Pick<Storage, 'db' | 'clockAheadMs' | 'clockOffsetMs'>
  /** Text of `PITBOSS_MASTER_KEYS`. */
  masterKeys: string
  /** Divides abandonment times only. */
  timeScale: number
  callTokens?: CallTokenMode
  logger: Logger
  registry?: Registry
  clock?: Clock
  catalogue?: Catalogue
  returnsAlarm?: AlarmRule
}

/**
 * Wires the rounds service and starts its calls, sweeper, consumer, outboxes and reports. `stop()` lets what
 * is in flight end first.
 */
export async function startRounds({
  wrap = {},
  bus: plainBus,
  storage: { db, clockAheadMs, clockOffsetMs },
  masterKeys,
  timeScale,
  callTokens = 'require',
  logger,
  registry,
  clock = systemClock,
  catalogue: plainCatalogue = createCatalogue(),
  returnsAlarm = 'take-down',
}: RoundsOptions): Promise<{ stop(): Promise<void> }> {
  await ensureIndexes(
    db,
    {
      rounds: roundIndexes,
      commitments: commitmentIndexes,
      sessions: sessionIndexes,
      grants: grantIndexes,
      paces: paceIndexes,
      player_stops: stopIndexes,
      player_limits: playerLimitIndexes,
      ...gameIndexes,
      ...auditEntriesIndexes,
      ...reportIndexes,
      ...returnIndexes,
      ...idempotencyKeyIndexes,
      ...leaseIndexes,
      ...rewindIndexes,
    },
    logger,
  )
  const bus = wrap.bus?.(plainBus) ?? plainBus
  const catalogue = wrap.catalogue?.(plainCatalogue) ?? plainCatalogue
  const keyring = await openKeyring(db, masterKeys)
  await assertSeedsOpen(db, keyring)
  const seals = createRewriteSeals({ db, keyring, places: sealedPlaces, logger })
  const secretBox = createSecretBox(keyring, 'server-seeds')
  const roundsStore = createRoundsStore({ db })
  const sessions = createSessionsStore({ db })
  const grantsStore = createGrantsStore({ db })
  const refusalsStore = createRefusalsStore({ db })
  const reportsStore = createReportsStore({ db, watch: createReturnsFold({ db, catalogue }) })
  const reports = wrap.reports?.(reportsStore) ?? reportsStore
  const seeds = { newSeed: newServerSeed, hashSeed: seedHash }
  const commitmentsStore = createCommitmentsStore({ db, secretBox, ...seeds })
  const walletClient = createWalletClient({ bus })
  const fullness = watchFullness(bus)
  const lateness = hearLateness(bus)
  const relaying = { bus: fullness.publisher, position: () => eventsPosition(bus), clock, logger }
  const roundOutbox = createOutbox({ ...relaying, collection: roundsStore.collection, shardKey: ['chain'] })
  const sessionOutbox = createOutbox({ ...relaying, collection: sessions.collection })
  const audit = createAuditOutbox({
    db,
    collections: [
      'game_settings',
      'game_status',
      'sessions',
      'grants',
      'player_stops',
      'player_limits',
      'return_alarms',
      'rewinds',
      'audit_entries',
    ],
    append: (entries) => bus.call(appendAudit.rounds, { entries: [...entries] }),
    ...{ clock, newId, logger },
  })
  const counted = (store: RoundsStore) => (registry === undefined ? store : countRoundStates(store, registry))
  const base = {
    rounds: rememberLast(counted(wrap.rounds?.(roundsStore) ?? roundsStore), clock),
    refusals: wrap.refusals?.(refusalsStore) ?? refusalsStore,
    grants: wrap.grants?.(grantsStore) ?? grantsStore,
    rules: wrap.rules ?? transition,
    commitments: wrap.commitments?.(commitmentsStore) ?? commitmentsStore,
    keys: createKeysStore({ db }),
    games: createGamesStore({ db }),
    wallet: wrap.wallet?.(walletClient) ?? walletClient,
    cursors: createCursorCodec({ keyring }),
    scaleMs: createTimeScale(timeScale).scaleMs,
    newUuid: randomUUID,
    ...{ sessions, reports, catalogue, audit, clock, newId, logger },
  }
  const returns = createReturnsStore({ db })
  if (registry !== undefined) {
    registerMetrics(registry, { rounds: base.rounds, returns })
    const collections = { rounds: roundsStore.collection, sessions: sessions.collection }
    createOutboxMetrics({ registry, collections, clock })
    createConsumerMetrics({ registry, bus, consumer: roundsMovements })
  }
  const ahead = createCommitAhead(base)
  const actor = createRoundActor({ ...base, ahead, outbox: roundOutbox, mailbox: createMailbox() })
  const acting = { ...base, actor, access: createGameAccess(base), players: createPlayerAccess(base) }
  const { settleRound, voidStake } = createSettleRound(acting)
  const [playerLimits, spends] = [createPlayerLimitsStore({ db }), createSpendsStore({ db })]
  const reading = createReadLimits({ playerLimits, spends, sessions, clock, clockOffsetMs })
  const parts = {
    ...acting,
    ...{ settleRound, voidStake },
    intents: createOpenIntent(acting),
    holdPace: createHoldPace({ paces: createPacesStore({ db }), clock, clockOffsetMs }),
    holdLimits: createHoldLimits({ reading, playerLimits }),
    placeStake: createPlaceStake(acting),
    admitPlay: createAdmitPlay({
      isStreamFull: fullness.isFull,
      latenessOf: lateness.of,
      random: Math.random,
      noteRefused: createYieldNote(registry),
    }),
    joinMovement: createJoinMovement(acting),
    noteConflict: createConflictNote(registry, logger),
  }
  const reads = createReadRounds(parts)
  const games = createGames({ ...parts, askApproval: createAskApproval({ bus }) })
  const place = createPlaceTransaction(parts)
  const placeTransaction = wrap.placeTransaction?.(place, parts.wallet) ?? place

  const lease = createLease({
    ...{ db, name: 'reports', owner: newId('own'), ttlMs: reportLeaseMs, clock, clockAheadMs },
  })
  const watchReturns = createWatchReturns({ ...base, returns, rule: returnsAlarm })
  const projector = startReportProjector({
    applyFacts: reports.applyFacts,
    raise: watchReturns.raise,
    ...{ lease, logger },
  })
  const stopOutboxes = [roundOutbox.start(), sessionOutbox.start(), audit.start()]
  const recover = createRecoverRound({ ...parts, settle: settleRound })
  const sweeper = startSweeper({
    sweep: whileClockAgrees(clockAheadMs, createSweepRounds({ ...parts, recover, random: Math.random })),
    logger,
  })
  const rewinds = createRewindStore({ db, clock, newId })
  const handleLateMovement = createLateMovementHandler({ ...parts, recover })
  const consumer = consumeMovements({ bus, handleLateMovement, rewinds, logger })

  const stopsStore = createStopsStore({ db })
  const stops = createPlayerStops({ ...parts, stops: stopsStore })
  const limits = createPlayerLimits({ ...parts, playerLimits, reading })
  const stopSettler = startStopSettler({ settle: whileClockAgrees(clockAheadMs, stops.settle), logger })
  const sign = async (text: string) => (await bus.call(signStopRecord, { text })).jws
  const stopSigner = startStopSigner({ sign: createSignStops({ stops: stopsStore, sign }), logger })
  const sessionActions = createSessions({ ...parts, stops, playerLimits, outbox: sessionOutbox })
  const handlers = [
    ...createGameHandlers({ games }),
    ...createSessionHandlers({ sessions: sessionActions, clock }),
    ...createRoundHandlers({ rounds: reads, voidRound: createVoidRound({ ...parts, reads }) }),
    ...createRewindHandlers({ rewinds, bus, audit }),
    ...createRepublishHandlers({ tellEndAgain: createTellEndAgain({ ...parts, outbox: roundOutbox }) }),
    ...createRestoreHandlers({
      ...{ rounds: reads, orphans: createHealOrphans(parts), endAsTold: createEndAsTold(parts) },
    }),
    ...createTransactionHandlers({ placeTransaction }),
    ...sealCalls(seals),
    ...createFreeBetHandlers({ freeBets: createFreeBets(parts), clock }),
    ...createStopHandlers({ stops, clock }),
    ...createPlayerLimitHandlers({ limits }),
    ...createPlayerDeskHandlers({ players: createReadPlayers(parts), clock }),
    ...createPlayerDataHandlers({
      playerData: createPlayerData({ ...parts, grants: grantsStore, stops: stopsStore, limits }),
    }),
    ...createReceiptHandlers({
      receipts: createReceipts({
        ...parts,
        receipts: createReceiptsStore({ db, secretBox: createSecretBox(keyring, receiptPurpose) }),
        noteReceipt: createReceiptNote(registry, logger),
      }),
    }),
    ...createReportHandlers({ readReport: createReadReport(parts) }),
    ...createReturnHandlers({ watch: watchReturns }),
    ...createPlayerHandlers({
      showPlayer: createShowPlayer({ ...parts, games, spends }),
      realityCheck: createAnswerRealityCheck({ ...parts, close: sessionActions.close }),
      clock,
      rounds: createReadPlayerRounds(parts),
      playRound: createPlayRound(parts),
      actOnRound: createActOnRound(parts),
    }),
  ]
  const calls = await serveCalls({
    bus,
    service,
    version,
    concurrencyMax,
    clockAheadMs,
    tokens: createCallTokens({ loadKeys: keysFromAuth(bus), mode: callTokens, logger, registry }),
    logger,
    registry,
    // Settlement never waits for the audit.
    handlers: handlers.map((handler) =>
      isAudited(handler.subject) ? { ...handler, run: audit.following(handler.run) } : handler,
    ),
  })

  return {
    async stop() {
      await calls.stop()
      lateness.stop()
      await consumer.stop()
      await sweeper.stop()
      await stopSettler.stop()
      await stopSigner.stop()
      await projector.stop()
      await ahead.stop()
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
    clock: storage.clock,
    masterKeys: config.PITBOSS_MASTER_KEYS,
    timeScale: config.PITBOSS_TIME_SCALE,
    callTokens: config.PITBOSS_CALL_TOKENS,
    returnsAlarm: config.PITBOSS_RETURNS_ALARM,
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
