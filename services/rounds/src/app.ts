import { randomUUID } from 'node:crypto'
import type { Bus } from '@pitboss/bus/connect-bus'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { newServerSeed } from '@pitboss/fairness/new-server-seed'
import { seedHash } from '@pitboss/fairness/seed-hash'
import { connectServiceBus } from '@pitboss/bus/connect-service-bus'
import { type Clock, systemClock } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { createTimeScale } from '@pitboss/runtime/time-scale'
import { connectStorage, type Storage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { idempotencyKeyIndexes } from '@pitboss/storage/idempotency-keys'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createLease, leaseIndexes } from '@pitboss/storage/lease'
import { createOutbox } from '@pitboss/storage/outbox'
import { createRewindStore, rewindIndexes } from '@pitboss/storage/rewind-store'
import { createSecretBox } from '@pitboss/storage/secret-box'
import type { Logger } from 'pino'
import { Gauge, type Registry } from 'prom-client'
import { createMailbox } from '@pitboss/runtime/mailbox'
import { createRoundActor } from './actions/round-actor.ts'
import { type Catalogue, createCatalogue } from './rules/catalogue.ts'
import { createWalletClient, type WalletClient } from './clients/wallet.ts'
import type { RoundsConfig } from './config.ts'
import { createHearMovement } from './actions/late-movement.ts'
import { consumeMovements } from './consumers/movements.ts'
import { createFreeBetHandlers } from './calls/free-bets.ts'
import { createGameAccess } from './actions/game-access.ts'
import { createGameHandlers, createShowGame } from './calls/games.ts'
import { createOpenSession } from './actions/open-session.ts'
import { createOpenIntent } from './actions/open-intent.ts'
import { createPlaceStake } from './actions/place-stake.ts'
import { createJoinMovement } from './actions/join-movement.ts'
import { createPlaceTransaction, type PlaceTransaction } from './actions/place-transaction.ts'
import { createPlayRound } from './actions/play-round.ts'
import { createPlayerAccess } from './actions/player-session.ts'
import { createPlayerHandlers } from './calls/player.ts'
import { createReportHandlers } from './calls/reports.ts'
import { createRewindHandlers } from './calls/rewinds.ts'
import { createRoundHandlers } from './calls/rounds.ts'
import { createSessionHandlers } from './calls/sessions.ts'
import { createTransactionHandlers } from './calls/transactions.ts'
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
import { createAttendRound } from './actions/recover-round.ts'
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
  storage: Pick<Storage, 'db'>
  /** Text of `PITBOSS_MASTER_KEYS`. */
  masterKeys: string
  /** Divides abandonment times only. */
  timeScale: number
  logger: Logger
  registry?: Registry
  clock?: Clock
  catalogue?: Catalogue
}

/** Wires the rounds service and starts it: calls, sweeper, consumer, outboxes, reports. `stop()` ends all in flight first. */
export async function startRounds({
  wrap = {},
  bus: plainBus,
  storage: { db },
  masterKeys,
  timeScale,
  logger,
  registry,
  clock = systemClock,
  catalogue = createCatalogue(),
}: RoundsOptions): Promise<{ stop(): Promise<void> }> {
  await ensureIndexes(db, {
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
  })
  const { rounds: wrapRounds = same, commitments: wrapCommitments = same, wallet: wrapWallet = same } = wrap
  const { bus: wrapBus = same, placeTransaction: wrapPlace = same } = wrap
  const bus = wrapBus(plainBus)
  const keyring = await openKeyring(db, masterKeys)
  const cursors = createCursorCodec({ keyring })
  const secretBox = createSecretBox(keyring, 'server-seeds')
  const { scaleMs } = createTimeScale(timeScale)

  const roundsStore = createRoundsStore({ db })
  const rounds = wrapRounds(roundsStore)
  const refusals = createRefusalsStore({ db })
  const sessions = createSessionsStore({ db })
  const grants = createGrantsStore({ db })
  const games = createGamesStore({ db })
  const reports = createReportsStore({ db })
  const seeds = { newSeed: newServerSeed, hashSeed: seedHash }
  const commitments = wrapCommitments(createCommitmentsStore({ db, secretBox, ...seeds }))
  const roundOutbox = createOutbox({ collection: roundsStore.collection, bus, clock, logger })
  const sessionOutbox = createOutbox({ collection: sessions.collection, bus, clock, logger })
  const wallet = wrapWallet(createWalletClient({ bus }))

  const actor = createRoundActor({
    rounds,
    commitments,
    grants,
    wallet,
    outbox: roundOutbox,
    catalogue,
    mailbox: createMailbox(),
    clock,
    newId,
    scaleMs,
    logger,
  })
  const access = createGameAccess({ catalogue, games })
  const showGame = createShowGame({ games, access })
  const players = createPlayerAccess({ sessions, rounds })
  const placeStake = createPlaceStake({ rounds, wallet, actor, clock, logger })
  const ids = { newId, newUuid: randomUUID }
  const joinMovement = createJoinMovement({ wallet, rounds, clock })
  const stakes = { intents: createOpenIntent({ rounds, refusals, actor, clock }), placeStake, joinMovement }
  const play = { rounds, commitments, grants, wallet, actor, access, players, ...stakes, clock, ...ids }
  const playRound = createPlayRound(play)
  const placeTransaction = wrapPlace(createPlaceTransaction({ ...play, sessions }), wallet)
  const openSession = createOpenSession({ db, sessions, access, outbox: sessionOutbox, clock, newId })

  const owner = newId('own')
  const lease = createLease({ db, name: 'reports', owner, ttlMs: reportLeaseMs, clock })
  const projector = startReportProjector({ reports, lease, logger })
  const stopOutboxes = [roundOutbox.start(), sessionOutbox.start()]
  const attend = createAttendRound({ rounds, actor, clock, newId, scaleMs, logger })
  const stopSweeper = startSweeper({ rounds, attend, clock, logger })
  const rewinds = createRewindStore({ db, clock, newId })
  const hear = createHearMovement({ rounds, actor, attend, clock })
  const consumer = consumeMovements({ bus, hear, rewinds, logger })
  if (registry !== undefined) registerMetrics(registry, rounds)

  const calls = await serveCalls({
    bus,
    service,
    version,
    concurrencyMax,
    logger,
    handlers: [
      ...createGameHandlers({ catalogue, games, access, showGame, cursors, clock }),
      ...createSessionHandlers({ sessions, rounds, openSession, cursors, clock, scaleMs }),
      ...createRoundHandlers({ rounds, actor, cursors, clock }),
      ...createRewindHandlers({ rewinds, bus }),
      ...createTransactionHandlers({ placeTransaction }),
      ...createFreeBetHandlers({ db, grants, access, cursors, clock, newId }),
      ...createReportHandlers({ reports, catchUp: () => projector.catchUp(), clock }),
      ...createPlayerHandlers({
        rounds,
        commitments,
        grants,
        wallet,
        actor,
        players,
        showGame,
        playRound,
        cursors,
        clock,
      }),
    ],
  })

  return {
    async stop() {
      await calls.stop()
      await consumer.stop()
      await stopSweeper()
      await projector.stop()
      await Promise.all(stopOutboxes.map((stop) => stop()))
    },
  }
}

/** Connects to the database and to NATS, and starts the service there. */
export async function runRounds({
  config,
  host,
  wrap,
}: {
  config: RoundsConfig
  host: ServiceHost
  wrap?: Partial<RoundsWrap>
}): Promise<RunningService> {
  const { logger, registry } = host
  const storage = await connectStorage({
    url: config.MONGODB_URL,
    database: `${config.PITBOSS_DATABASE_PREFIX}_rounds`,
    logger,
  })
  const bus = await connectServiceBus({ service, config, host })
  host.check('nats', () => bus.connected())
  host.check('database', () => storage.ping())
  const rounds = await startRounds({
    bus,
    storage,
    masterKeys: config.PITBOSS_MASTER_KEYS,
    timeScale: config.PITBOSS_TIME_SCALE,
    logger,
    registry,
    ...(wrap === undefined ? {} : { wrap }),
  })
  return {
    async stop() {
      await rounds.stop()
      await bus.close()
      await storage.close()
    },
  }
}

function registerMetrics(registry: Registry, rounds: RoundsStore): void {
  new Gauge({
    name: 'pitboss_rounds_unfinished',
    help: 'Rounds that are not over',
    registers: [registry],
    async collect() {
      this.set((await rounds.unfinished()).count)
    },
  })
}

function same<Part>(part: Part): Part {
  return part
}
