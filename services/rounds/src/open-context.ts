import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@pitboss/bus/connect-bus'
import { eventsPosition } from '@pitboss/bus/consume-durable'
import { serviceVersion } from '@pitboss/bus/serve-service'
import { appendAudit } from '@pitboss/contracts/calls/auth'
import { newServerSeed, seedHash } from '@pitboss/fairness/server-seed'
import { createTimeScale } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import type { ServiceHost } from '@pitboss/runtime/run-service'
import { createAuditOutbox } from '@pitboss/storage/audit-outbox'
import type { Storage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { createIdempotencyKeys } from '@pitboss/storage/idempotency-keys'
import type { Keyring } from '@pitboss/storage/keyring'
import { shareCopies } from '@pitboss/storage/shared-copies'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { Registry } from 'prom-client'
import { admitPlay, type PlayLoad, type YieldRule } from './actions/admit-play.ts'
import type { placeTransaction } from './actions/place-transaction.ts'
import { audited } from './all-wings.ts'
import { listenToDeliveryLag } from './clients/delivery-lag-listener.ts'
import { createWalletClient } from './clients/wallet.ts'
import type { RoundsConfig } from './config.ts'
import { type PlayContext, PlayMemory, type RoundsContext } from './context.ts'
import { createPlayNotes, createStateNote, createYieldNote } from './metrics.ts'
import { createCatalogue } from './rules/catalogue.ts'
import { transition } from './rules/transition.ts'
import { createCommitmentsStore } from './storage/commitments-store.ts'
import { createGamesStore } from './storage/games-store.ts'
import { createGrantsStore } from './storage/grants-store.ts'
import { createLostRounds } from './storage/lost-rounds.ts'
import { openRounds } from './storage/rounds-journal.ts'
import type { Wing } from './wing.ts'

export type CoreContext = Omit<RoundsContext, 'hooks'>

/** What proofs put in the place of the product's parts. */
export type RoundsProof = Partial<{
  storage: (storage: Storage) => Storage
  bus: (bus: Bus) => Bus
  context: (context: CoreContext) => CoreContext
  wings: readonly Wing[]
  placeTransaction: typeof placeTransaction
  /** Whether events wait and none is recorded. */
  recording: { isStalled(): boolean; stop(): Promise<void> }
  /** The monotonic clock for the time that the consumer is missing. */
  nowMs: () => number
}>

/** Opens the stores and clients of the core. */
export async function openContext(given: {
  config: RoundsConfig
  host: Pick<ServiceHost, 'logger' | 'registry'>
  storage: Storage
  bus: Bus
  publisher: Parameters<typeof openRounds>[0]['bus']
  keyring: Keyring
  /** Puts a proof's parts in the place of the product's. */
  change: (context: CoreContext) => CoreContext
}) {
  const { config, bus, publisher, keyring, change } = given
  const { logger, registry } = given.host
  const { db, clock, clockOffsetMs } = given.storage
  const position = (withFirst: boolean) => eventsPosition(bus, withFirst)
  const { scaleMs } = createTimeScale(config.PITBOSS_TIME_SCALE)
  const { journal, lists, rounds, sessions } = await openRounds({
    ...{ bus: publisher, position, clock, logger, db, scaleMs, build: serviceVersion, newId, registry },
    noteState: createStateNote(registry),
    slot: config.PITBOSS_SLOT ?? null,
  })
  const copies = shareCopies({
    ...{ bus, service: 'rounds', logger },
    ...{ instances: journal.instances, steadyMs: journal.journal.steadyMs },
  })
  const audit = createAuditOutbox({
    db,
    collections: audited,
    append: (entries) => bus.call(appendAudit.rounds, { entries: [...entries] }),
    ...{ clock, newId, logger },
  })
  const commitments = createCommitmentsStore({
    ...{ db, secretBox: createSecretBox(keyring, 'server-seeds') },
    ...{ newSeed: newServerSeed, hashSeed: seedHash, journal: journal.journal },
  })
  const core = change({
    ...{ rounds, commitments, sessions, bus, audit },
    lost: createLostRounds({ journal, lists, rounds, commitments }),
    catalogue: createCatalogue(),
    grants: createGrantsStore({ db }),
    keys: createIdempotencyKeys({ db }),
    games: createGamesStore({ db, copies }),
    sums: journal.sums,
    wallet: createWalletClient({ bus }),
    rules: transition,
    cursors: createCursorCodec({ keyring }),
    ...createPlayNotes(registry, logger),
    newUuid: randomUUID,
    ...{ scaleMs, newId, clock, clockOffsetMs, logger },
  })
  return { core, audit, journal, copies }
}

type Load = Pick<PlayLoad, 'isStreamFull' | 'isRecordingStopped'> & {
  readonly config: RoundsConfig
  readonly bus: Bus
  readonly registry: Registry
}

/** Opens what play has besides the core: what new play yields to, and the requests under way. */
export function openPlay(rounds: RoundsContext, { config, bus, registry, ...full }: Load) {
  const { PITBOSS_PLAY_YIELDS_FROM_S: fromS, PITBOSS_PLAY_STOPS_FROM_S: allS } = config
  const yields: YieldRule = { fromMs: fromS * 1000, allMs: allS * 1000 }
  const lateness = listenToDeliveryLag(bus, yields)
  const noteRefused = createYieldNote(registry)
  const load: PlayLoad = { ...full, latenessOf: lateness.of, yields, random: Math.random, noteRefused }
  const context: RoundsContext & PlayContext = {
    ...rounds,
    admitPlay: (scope) => admitPlay(load, scope),
    leftFrom: config.PITBOSS_ROUNDS_LEFT_FROM ?? null,
    wait: (ms) => delay(ms),
    memory: new PlayMemory(),
  }
  return { context, stopFollowing: lateness.stop }
}
