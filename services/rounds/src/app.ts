import { randomUUID } from 'node:crypto'
import { type CallTokenMode, createCallTokens, keysFromAuth } from '@pitboss/bus/call-tokens'
import { type Bus, connectServiceBus } from '@pitboss/bus/connect-bus'
import { eventsPosition } from '@pitboss/bus/consume-durable'
import { createConsumerMetrics } from '@pitboss/bus/consumer-metrics'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { roundsMovements, webhooksFanout } from '@pitboss/bus/topology'
import { watchConsumer } from '@pitboss/bus/watch-consumer'
import { watchFullness } from '@pitboss/bus/watch-fullness'
import { createConsumerPositions } from '@pitboss/storage/consumer-positions'
import { appendAudit, signStopRecord } from '@pitboss/contracts/calls/auth'
import { isAudited } from '@pitboss/contracts/defined-calls'
import { newServerSeed, seedHash } from '@pitboss/fairness/server-seed'
import { type Clock, createTimeScale, systemClock } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { createAuditOutbox } from '@pitboss/storage/audit-outbox'
import { connectServiceStorage, type Storage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { createLease } from '@pitboss/storage/lease'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createOutbox } from '@pitboss/storage/outbox'
import { createOutboxMetrics } from '@pitboss/storage/outbox-metrics'
import { createRewindStore } from '@pitboss/storage/rewind-store'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createAdmitPlay } from './actions/admit-play.ts'
import { createActions } from './actions/create-actions.ts'
import { createPlay } from './actions/create-play.ts'
import { createHoldLimits, createReadLimits } from './actions/hold-limits.ts'
import { createHoldPace } from './actions/hold-pace.ts'
import { createPlaceTransaction, type PlaceTransaction } from './actions/place-transaction.ts'
import { createLateMovementHandler, createRecoverRound, createSweepRounds } from './actions/recover-round.ts'
import { createSignStops } from './actions/sign-stops.ts'
import { type AlarmRule, createWatchReturns } from './actions/watch-returns.ts'
import { allCalls } from './calls/all-calls.ts'
import { hearLateness } from './clients/hear-lateness.ts'
import { createWalletClient, type WalletClient } from './clients/wallet.ts'
import type { RoundsConfig } from './config.ts'
import type { RoundsContext } from './context.ts'
import { consumeMovements } from './consumers/movements.ts'
import {
  countRoundStates,
  createConflictNote,
  createRefusedSettlementNote,
  createReceiptNote,
  createYieldNote,
  registerMetrics,
} from './metrics.ts'
import { type Catalogue, createCatalogue } from './rules/catalogue.ts'
import { usualYield, type YieldRule } from './rules/share-of-play.ts'
import { transition } from './rules/transition.ts'
import {
  assertSeedsOpen,
  type CommitmentsStore,
  createCommitmentsStore,
} from './storage/commitments-store.ts'
import { createDeadIdsStore, type DeadIdsStore } from './storage/dead-ids-store.ts'
import { createGamesStore } from './storage/games-store.ts'
import { createGrantsStore, type GrantsStore } from './storage/grants-store.ts'
import { auditedCollections, indexes } from './storage/indexes.ts'
import { createKeysStore } from './storage/keys-store.ts'
import { createPacesStore } from './storage/paces-store.ts'
import { createPlayerLimitsStore } from './storage/player-limits-store.ts'
import { createReceiptsStore, receiptPurpose } from './storage/receipts-store.ts'
import { createRefusalsStore, type RefusalsStore } from './storage/refusals-store.ts'
import { rememberLast } from './storage/remember-last.ts'
import { createReportsStore, type ReportsStore } from './storage/reports-store.ts'
import { createReturnsFold } from './storage/returns-fold.ts'
import { createReturnsStore } from './storage/returns-store.ts'
import { createRoundsStore, type RoundsStore } from './storage/rounds-store.ts'
import { sealedPlaces } from './storage/sealed-places.ts'
import { createSessionsStore } from './storage/sessions-store.ts'
import { createSpendsStore } from './storage/spends-store.ts'
import { createStopsStore } from './storage/stops-store.ts'
import { startReportProjector } from './workers/report-projector.ts'
import { startStopSettler } from './workers/stop-settler.ts'
import { startStopSigner } from './workers/stop-signer.ts'
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
  deadIds: (store: DeadIdsStore) => DeadIdsStore
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
  storage: Pick<Storage, 'db' | 'patiently' | 'clockAheadMs' | 'clockOffsetMs'>
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
  yields?: YieldRule
  /** Whether events wait and none is recorded; never, unless told: webhooks need not run beside a proof. */
  isRecordingStopped?: () => boolean
  /** The monotonic clock by which the consumer is missed. */
  nowMs?: () => number
}

/**
 * Wires the rounds service and starts its calls, sweeper, consumer, outboxes and reports. `stop()` lets what
 * is in flight end first.
 */
export async function startRounds({
  wrap = {},
  bus: plainBus,
  storage: { db, patiently, clockAheadMs, clockOffsetMs },
  masterKeys,
  timeScale,
  callTokens = 'require',
  logger,
  registry,
  clock = systemClock,
  catalogue: plainCatalogue = createCatalogue(),
  returnsAlarm = 'take-down',
  yields = usualYield,
  isRecordingStopped = () => false,
  nowMs = () => performance.now(),
}: RoundsOptions): Promise<{ stop(): Promise<void> }> {
  await patiently((own) => ensureIndexes(own, indexes, logger))
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
  const deadIdsStore = createDeadIdsStore({ db })
  const reportsStore = createReportsStore({ db, watch: createReturnsFold({ db, catalogue }) })
  const reports = wrap.reports?.(reportsStore) ?? reportsStore
  const seeds = { newSeed: newServerSeed, hashSeed: seedHash }
  const commitmentsStore = createCommitmentsStore({ db, secretBox, ...seeds })
  const walletClient = createWalletClient({ bus })
  const fullness = watchFullness(bus)
  const lateness = hearLateness(bus, yields)
  const relaying = {
    bus: fullness.publisher,
    position: (withFirst: boolean) => eventsPosition(bus, withFirst),
    clock,
    logger,
  }
  const roundOutbox = createOutbox({ ...relaying, collection: roundsStore.collection, shardKey: ['chain'] })
  const sessionOutbox = createOutbox({ ...relaying, collection: sessions.collection })
  const audit = createAuditOutbox({
    db,
    collections: auditedCollections,
    append: (entries) => bus.call(appendAudit.rounds, { entries: [...entries] }),
    ...{ clock, newId, logger },
  })
  const counted = (store: RoundsStore) => (registry === undefined ? store : countRoundStates(store, registry))
  const [playerLimits, spends] = [createPlayerLimitsStore({ db }), createSpendsStore({ db })]
  const reading = createReadLimits({ playerLimits, spends, sessions, clock, clockOffsetMs })
  const context: RoundsContext = {
    rounds: rememberLast(counted(wrap.rounds?.(roundsStore) ?? roundsStore), clock),
    refusals: wrap.refusals?.(refusalsStore) ?? refusalsStore,
    grants: wrap.grants?.(grantsStore) ?? grantsStore,
    rules: wrap.rules ?? transition,
    commitments: wrap.commitments?.(commitmentsStore) ?? commitmentsStore,
    deadIdsStore: wrap.deadIds?.(deadIdsStore) ?? deadIdsStore,
    keys: createKeysStore({ db }),
    games: createGamesStore({ db }),
    wallet: wrap.wallet?.(walletClient) ?? walletClient,
    cursors: createCursorCodec({ keyring }),
    scaleMs: createTimeScale(timeScale).scaleMs,
    newUuid: randomUUID,
    hooks: {
      holdLimits: createHoldLimits({ reading, playerLimits }),
      holdPace: createHoldPace({ paces: createPacesStore({ db }), clock, clockOffsetMs }),
    },
    noteConflict: createConflictNote(registry, logger),
    noteRefusedSettlement: createRefusedSettlementNote(registry, logger),
    ...{ bus, roundOutbox, sessionOutbox, sessions, catalogue, audit, clock, clockOffsetMs, newId, logger },
  }
  const returns = createReturnsStore({ db })
  const rewinds = createRewindStore({ db, clock, newId })
  const watch = watchConsumer({
    bus,
    consumer: roundsMovements,
    remake: {
      positions: createConsumerPositions(db),
      notes: () => true,
      orders: rewinds.orders,
      onBack: () => undefined,
    },
    ...{ logger, nowMs },
  })
  if (registry !== undefined) {
    registerMetrics(registry, { rounds: context.rounds, returns })
    const collections = { rounds: roundsStore.collection, sessions: sessions.collection }
    createOutboxMetrics({ registry, collections, clock })
    createConsumerMetrics({ registry, watch, consumer: roundsMovements })
  }
  const admitPlay = createAdmitPlay({
    isStreamFull: fullness.isFull,
    isRecordingStopped,
    latenessOf: lateness.of,
    yields,
    random: Math.random,
    noteRefused: createYieldNote(registry),
  })
  const { parts, ahead } = createPlay({ ...context, admitPlay })
  const place = createPlaceTransaction(parts)
  const placeTransaction = wrap.placeTransaction?.(place, parts.wallet) ?? place
  const stopsStore = createStopsStore({ db })
  const actions = createActions({
    ...parts,
    ...{ bus, stopsStore, playerLimits, spends, reading, reports },
    grants: context.grants,
    receiptsStore: createReceiptsStore({ db, secretBox: createSecretBox(keyring, receiptPurpose) }),
    noteReceipt: createReceiptNote(registry, logger),
  })

  const lease = createLease({
    ...{ db, name: 'reports', owner: newId('own'), ttlMs: reportLeaseMs, clock, clockAheadMs },
  })
  const watchReturns = createWatchReturns({ ...context, returns, rule: returnsAlarm })
  const projector = startReportProjector({
    applyFacts: reports.applyFacts,
    raise: watchReturns.raise,
    ...{ lease, logger },
  })
  const stopOutboxes = [roundOutbox.start(), sessionOutbox.start(), audit.start()]
  const recover = createRecoverRound({ ...parts, settle: parts.settleRound })
  const sweeper = startSweeper({
    sweep: whileClockAgrees(clockAheadMs, createSweepRounds({ ...parts, recover, random: Math.random })),
    logger,
  })
  const handleLateMovement = createLateMovementHandler({ ...parts, recover })
  const consumer = consumeMovements({ bus, handleLateMovement, rewinds, logger })

  const stopSettler = startStopSettler({
    settle: whileClockAgrees(clockAheadMs, actions.stops.settle),
    logger,
  })
  const sign = async (text: string) => (await bus.call(signStopRecord, { text })).jws
  const stopSigner = startStopSigner({ sign: createSignStops({ stops: stopsStore, sign }), logger })
  const handlers = allCalls({ ...actions, placeTransaction, watchReturns, seals, rewinds, audit, bus, clock })
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
      await watch.stop()
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
  const recording = watchConsumer({ bus, consumer: webhooksFanout, logger })
  const rounds = await startRounds({
    bus,
    storage,
    clock: storage.clock,
    masterKeys: config.PITBOSS_MASTER_KEYS,
    timeScale: config.PITBOSS_TIME_SCALE,
    callTokens: config.PITBOSS_CALL_TOKENS,
    returnsAlarm: config.PITBOSS_RETURNS_ALARM,
    yields: {
      fromMs: config.PITBOSS_PLAY_YIELDS_FROM_S * 1000,
      allMs: config.PITBOSS_PLAY_STOPS_FROM_S * 1000,
    },
    isRecordingStopped: recording.isStalled,
    logger,
    registry,
    wrap,
  })
  return {
    async stop() {
      await rounds.stop()
      await recording.stop()
      await bus.close()
      await storage.close()
    },
  }
}
