import { randomUUID } from 'node:crypto'
import type { Bus } from '@pitboss/bus/connect-bus'
import { eventsPosition } from '@pitboss/bus/consume-durable'
import { serviceVersion } from '@pitboss/bus/serve-service'
import { appendAudit } from '@pitboss/contracts/calls/auth'
import { newServerSeed, seedHash } from '@pitboss/fairness/server-seed'
import { type Clock, createTimeScale } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import { createAuditOutbox } from '@pitboss/storage/audit-outbox'
import { createCursorCodec } from '@pitboss/storage/cursor'
import type { Keyring } from '@pitboss/storage/keyring'
import { createOutbox } from '@pitboss/storage/outbox'
import { createOutboxMetrics } from '@pitboss/storage/outbox-metrics'
import { shareCopies } from '@pitboss/storage/shared-copies'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { Db } from 'mongodb'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { auditedCollections } from './all-wings.ts'
import { createWalletClient } from './clients/wallet.ts'
import type { RoundsContext } from './context.ts'
import { countRoundStates, createConflictNote, createRefusedSettlementNote } from './metrics.ts'
import { createCatalogue } from './rules/catalogue.ts'
import { transition } from './rules/transition.ts'
import { createCommitmentsStore } from './storage/commitments-store.ts'
import { createDeadRequestsStore } from './storage/dead-requests.ts'
import { createGamesStore } from './storage/games-store.ts'
import { createGrantsStore } from './storage/grants-store.ts'
import { createKeysStore } from './storage/keys-store.ts'
import { createLostRounds } from './storage/lost-rounds.ts'
import { openRounds } from './storage/rounds-journal.ts'
import { createSessionsStore } from './storage/sessions-store.ts'

/** The context of the core before wings are mounted. */
export type CoreContext = Omit<RoundsContext, 'hooks'>

/** Opens the stores and clients of the core. `outboxes` send and move what waits, once they are started. */
export async function openContext({
  bus,
  publisher,
  db,
  keyring,
  timeScale,
  slot,
  clock,
  clockOffsetMs,
  logger,
  registry,
  change,
}: {
  bus: Bus
  publisher: Parameters<typeof createOutbox>[0]['bus']
  db: Db
  keyring: Keyring
  timeScale: number
  /** The place of this process, in which one runs at a time; null where none is set. */
  slot: string | null
  clock: Clock
  clockOffsetMs: () => number
  logger: Logger
  registry: Registry
  /** Puts a proof's parts in the place of the product's. */
  change: (context: CoreContext) => CoreContext
}) {
  const sessions = createSessionsStore({ db })
  const position = (withFirst: boolean) => eventsPosition(bus, withFirst)
  const relaying = { bus: publisher, position, clock, logger }
  const { scaleMs } = createTimeScale(timeScale)
  const { journal, lists, rounds } = await openRounds({
    ...{ ...relaying, db, scaleMs, build: serviceVersion, slot, newId, registry },
  })
  const copies = shareCopies({
    ...{ bus, service: 'rounds', logger },
    ...{ instances: journal.instances, steadyMs: journal.journal.steadyMs },
  })
  const sessionOutbox = createOutbox({ ...relaying, collection: sessions.collection })
  const audit = createAuditOutbox({
    db,
    collections: auditedCollections,
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
    noteConflict: createConflictNote(registry, logger),
    noteRefusedSettlement: createRefusedSettlementNote(registry, logger),
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
