import { type CallTokenMode, createCallTokens, keysFromAuth } from '@pitboss/bus/call-tokens'
import { type Bus, connectServiceBus } from '@pitboss/bus/connect-bus'
import { createConsumerMetrics } from '@pitboss/bus/consumer-metrics'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { roundsMovements, webhooksFanout } from '@pitboss/bus/topology'
import { watchConsumer } from '@pitboss/bus/watch-consumer'
import { watchFullness } from '@pitboss/bus/watch-fullness'
import { isAudited } from '@pitboss/contracts/defined-calls'
import { type Clock, systemClock } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { connectServiceStorage, type Storage } from '@pitboss/storage/connect-storage'
import { createConsumerPositions } from '@pitboss/storage/consumer-positions'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createRewindStore } from '@pitboss/storage/rewind-store'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createAdmitPlay } from './actions/admit-play.ts'
import { createActions } from './actions/create-actions.ts'
import { createPlay } from './actions/create-play.ts'
import { createPlaceTransaction, type PlaceTransaction } from './actions/place-transaction.ts'
import { createLateMovementHandler, createRecoverRound, createSweepRounds } from './actions/recover-round.ts'
import { allWings, indexes, sealedPlaces } from './all-wings.ts'
import { coreCalls } from './calls/core-calls.ts'
import { hearLateness } from './clients/hear-lateness.ts'
import type { WalletClient } from './clients/wallet.ts'
import type { RoundsConfig } from './config.ts'
import { consumeMovements } from './consumers/movements.ts'
import { createYieldNote, registerMetrics } from './metrics.ts'
import { mountWings } from './mount-wings.ts'
import { type CoreContext, openContext } from './open-context.ts'
import { type Catalogue, createCatalogue } from './rules/catalogue.ts'
import { usualYield, type YieldRule } from './rules/share-of-play.ts'
import { assertSeedsOpen } from './storage/assert-seeds-open.ts'
import { sealedInJournal } from './storage/sealed-places.ts'
import { upgradeStorage } from './storage/upgrade-storage.ts'
import type { Wing, WingGiven } from './wing.ts'
import { startSweeper } from './workers/sweeper.ts'

const service = 'rounds'
const version = '0.1.0'
const concurrencyMax = 512

/** Parts that a proof puts in the place of the product's. */
export type RoundsProof = {
  bus: (bus: Bus) => Bus
  context: (context: CoreContext) => CoreContext
  wings: readonly Wing[]
  placeTransaction: (place: PlaceTransaction, wallet: WalletClient) => PlaceTransaction
}

type RoundsOptions = {
  proof?: Partial<RoundsProof>
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
  returnsAlarm?: WingGiven['returnsAlarm']
  yields?: YieldRule
  /** Until then no round counts as left by its player. */
  leftFrom?: Date | null
  /** Whether events wait and none is recorded; never, unless told: webhooks need not run beside a proof. */
  isRecordingStopped?: () => boolean
  /** The monotonic clock by which the consumer is missed. */
  nowMs?: () => number
}

/**
 * Wires the rounds service and starts its calls, sweeper, consumer, outboxes, folds and wings. `stop()` lets
 * what is in flight end first.
 */
export async function startRounds({
  proof = {},
  bus: plainBus,
  storage: { db, patiently, clockAheadMs, clockOffsetMs },
  masterKeys,
  timeScale,
  callTokens = 'require',
  logger,
  registry,
  clock = systemClock,
  catalogue = createCatalogue(),
  returnsAlarm = 'take-down',
  yields = usualYield,
  leftFrom = null,
  isRecordingStopped = () => false,
  nowMs = () => performance.now(),
}: RoundsOptions): Promise<{ stop(): Promise<void> }> {
  await patiently((own) => ensureIndexes(own, indexes, logger, { drops: false }))
  const bus = proof.bus?.(plainBus) ?? plainBus
  const keyring = await openKeyring(db, masterKeys)
  await assertSeedsOpen(db, keyring)
  const fullness = watchFullness(bus)
  const { core, audit, journal, copies, outboxes } = await openContext({
    ...{ bus, publisher: fullness.publisher, db, keyring, catalogue, timeScale, build: version },
    ...{ clock, clockOffsetMs, logger, registry, change: proof.context ?? ((context) => context) },
  })
  const { context, open } = mountWings(core, proof.wings ?? allWings, {
    ...{ db, keyring, registry, clockAheadMs, returnsAlarm },
  })
  const lateness = hearLateness(bus, yields)
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
    registerMetrics(registry, context.rounds)
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
  const parts = createPlay({ ...context, admitPlay })
  const place = createPlaceTransaction(parts)
  const stopOutboxes = outboxes.map((outbox) => outbox.start())
  const recover = createRecoverRound({ ...parts, settle: parts.settleRound, leftFrom })
  const sweep = createSweepRounds({ ...parts, recover, random: Math.random })
  await upgradeStorage({ ...context, db, journal })
  // What is older is found by indexes that nothing needs any more.
  await patiently((own) => ensureIndexes(own, indexes, logger))
  journal.sums.by(context.hooks.folds)
  await journal.start()
  const workers = [
    watch,
    consumeMovements({
      ...{ bus, handleLateMovement: createLateMovementHandler({ ...parts, recover }), rewinds, logger },
    }),
    startSweeper({ sweep: whileClockAgrees(clockAheadMs, sweep), logger }),
    ...open.flatMap((wing) => wing.start?.() ?? []),
  ]
  const handlers = [
    ...coreCalls({
      ...{ ...parts, ...createActions(parts), bus, rewinds },
      placeTransaction: proof.placeTransaction?.(place, parts.wallet) ?? place,
      seals: createRewriteSeals({
        ...{ db, keyring, logger },
        places: [...sealedPlaces, sealedInJournal({ ...context, db, journal })],
      }),
    }),
    ...open.flatMap((wing) => wing.calls),
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
      for (const worker of workers) await worker.stop()
      await Promise.all(stopOutboxes.map((stop) => stop()))
      await journal.stop()
      copies.stop()
    },
  }
}

/** Connects to the database and to NATS, and starts the service there. */
export async function runRounds({
  config,
  host,
  proof = {},
}: {
  config: RoundsConfig
  host: ServiceHost
  proof?: Partial<RoundsProof>
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
    leftFrom: config.PITBOSS_ROUNDS_LEFT_FROM ?? null,
    isRecordingStopped: recording.isStalled,
    logger,
    registry,
    proof,
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
