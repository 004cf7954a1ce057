import { randomUUID } from 'node:crypto'
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
import type { Keyring } from '@pitboss/storage/keyring'
import { createOutbox } from '@pitboss/storage/outbox'
import { createOutboxMetrics } from '@pitboss/storage/outbox-metrics'
import { shareCopies } from '@pitboss/storage/shared-copies'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { audited } from './all-wings.ts'
import { createWalletClient } from './clients/wallet.ts'
import type { RoundsConfig } from './config.ts'
import type { RoundsContext } from './context.ts'
import { countRoundStates, createPlayNotes } from './metrics.ts'
import { createCatalogue } from './rules/catalogue.ts'
import { transition } from './rules/transition.ts'
import { createDeadRequestsStore } from './storage/append-round.ts'
import { createCommitmentsStore } from './storage/commitments-store.ts'
import { createGamesStore } from './storage/games-store.ts'
import { createGrantsStore } from './storage/grants-store.ts'
import { createKeysStore } from './storage/keys-store.ts'
import { createLostRounds } from './storage/lost-rounds.ts'
import { openRounds } from './storage/rounds-journal.ts'
import { createSessionsStore } from './storage/sessions-store.ts'

export type CoreContext = Omit<RoundsContext, 'hooks'>

/** Opens the stores and clients of the core. `outboxes` send and move what waits, once they are started. */
export async function openContext(given: {
  config: RoundsConfig
  host: Pick<ServiceHost, 'logger' | 'registry'>
  storage: Storage
  bus: Bus
  publisher: Parameters<typeof createOutbox>[0]['bus']
  keyring: Keyring
  /** Puts a proof's parts in the place of the product's. */
  change: (context: CoreContext) => CoreContext
}) {
  const { config, bus, publisher, keyring, change } = given
  const { logger, registry } = given.host
  const { db, clock, clockOffsetMs } = given.storage
  const sessions = createSessionsStore({ db })
  const position = (withFirst: boolean) => eventsPosition(bus, withFirst)
  const relaying = { bus: publisher, position, clock, logger }
  const { scaleMs } = createTimeScale(config.PITBOSS_TIME_SCALE)
  const { journal, lists, rounds } = await openRounds({
    ...{ ...relaying, db, scaleMs, build: serviceVersion, newId, registry },
    slot: config.PITBOSS_SLOT ?? null,
  })
  const copies = shareCopies({
    ...{ bus, service: 'rounds', logger },
    ...{ instances: journal.instances, steadyMs: journal.journal.steadyMs },
  })
  const sessionOutbox = createOutbox({ ...relaying, collection: sessions.collection })
  const audit = createAuditOutbox({
    db,
    collections: audited,
    append: (entries) => bus.call(appendAudit.rounds, { entries: [...entries] }),
    ...{ clock, newId, logger },
  })
  createOutboxMetrics({ registry, collections: { sessions: sessions.collection }, clock })
  const secretBox = createSecretBox(keyring, 'server-seeds')
  const context = change({
    ...{ rounds, sessions, bus, audit, sessionOutbox },
    catalogue: createCatalogue(),
    lost: createLostRounds({ journal, lists, rounds }),
    grants: createGrantsStore({ db }),
    commitments: createCommitmentsStore({
      ...{ db, secretBox, newSeed: newServerSeed, hashSeed: seedHash },
      journal: journal.journal,
    }),
    deadRequests: createDeadRequestsStore({ journal }),
    keys: createKeysStore({ db }),
    games: createGamesStore({ db, copies }),
    sums: journal.sums,
    wallet: createWalletClient({ bus }),
    rules: transition,
    cursors: createCursorCodec({ keyring }),
    ...createPlayNotes(registry, logger),
    newUuid: randomUUID,
    ...{ scaleMs, newId, clock, clockOffsetMs, logger },
  })
  return {
    core: { ...context, rounds: countRoundStates(context.rounds, registry) },
    audit,
    journal,
    copies,
    outboxes: [sessionOutbox, audit],
  }
}
