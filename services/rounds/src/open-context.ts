import { randomUUID } from 'node:crypto'
import type { Bus } from '@pitboss/bus/connect-bus'
import { eventsPosition } from '@pitboss/bus/consume-durable'
import { appendAudit } from '@pitboss/contracts/calls/auth'
import { newServerSeed, seedHash } from '@pitboss/fairness/server-seed'
import { type Clock, createTimeScale } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import { createAuditOutbox } from '@pitboss/storage/audit-outbox'
import { createCursorCodec } from '@pitboss/storage/cursor'
import type { Keyring } from '@pitboss/storage/keyring'
import { createOutbox } from '@pitboss/storage/outbox'
import { createOutboxMetrics } from '@pitboss/storage/outbox-metrics'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { Db } from 'mongodb'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { auditedCollections } from './all-wings.ts'
import { createWalletClient } from './clients/wallet.ts'
import type { RoundsContext } from './context.ts'
import { countRoundStates, createConflictNote, createRefusedSettlementNote } from './metrics.ts'
import type { Catalogue } from './rules/catalogue.ts'
import { transition } from './rules/transition.ts'
import { createCommitmentsStore } from './storage/commitments-store.ts'
import { createDeadIdsStore } from './storage/dead-ids-store.ts'
import { createGamesStore } from './storage/games-store.ts'
import { createGrantsStore } from './storage/grants-store.ts'
import { createKeysStore } from './storage/keys-store.ts'
import { createRefusalsStore } from './storage/refusals-store.ts'
import { rememberLast } from './storage/remember-last.ts'
import { createRoundFacts } from './storage/round-facts.ts'
import { createRoundsStore } from './storage/rounds-store.ts'
import { createSessionsStore } from './storage/sessions-store.ts'

/** The context of the core before wings are mounted. */
export type CoreContext = Omit<RoundsContext, 'hooks'>

type Given = {
  readonly bus: Bus
  /** Sends the events of outboxes. */
  readonly publisher: Parameters<typeof createOutbox>[0]['bus']
  readonly db: Db
  readonly keyring: Keyring
  readonly catalogue: Catalogue
  readonly timeScale: number
  readonly clock: Clock
  readonly clockOffsetMs: () => number
  readonly logger: Logger
  readonly registry: Registry | undefined
  /** Puts a proof's parts in the place of the product's. */
  readonly change: (context: CoreContext) => CoreContext
}

/** Opens the stores and clients of the core. `outboxes` send and move what waits, once they are started. */
export function openContext(given: Given) {
  const { bus, publisher, db, keyring, catalogue, clock, clockOffsetMs, logger, registry } = given
  const rounds = createRoundsStore({ db })
  const sessions = createSessionsStore({ db })
  const position = (withFirst: boolean) => eventsPosition(bus, withFirst)
  const relaying = { bus: publisher, position, clock, logger }
  const roundOutbox = createOutbox({ ...relaying, collection: rounds.collection, shardKey: ['chain'] })
  const sessionOutbox = createOutbox({ ...relaying, collection: sessions.collection })
  const audit = createAuditOutbox({
    db,
    collections: auditedCollections,
    append: (entries) => bus.call(appendAudit.rounds, { entries: [...entries] }),
    ...{ clock, newId, logger },
  })
  if (registry !== undefined) {
    const collections = { rounds: rounds.collection, sessions: sessions.collection }
    createOutboxMetrics({ registry, collections, clock })
  }
  const secretBox = createSecretBox(keyring, 'server-seeds')
  const context = given.change({
    ...{ rounds, sessions, bus, catalogue, audit, roundOutbox, sessionOutbox },
    refusals: createRefusalsStore({ db }),
    grants: createGrantsStore({ db }),
    commitments: createCommitmentsStore({ db, secretBox, newSeed: newServerSeed, hashSeed: seedHash }),
    deadIdsStore: createDeadIdsStore({ db }),
    keys: createKeysStore({ db }),
    games: createGamesStore({ db }),
    facts: createRoundFacts({ db }),
    wallet: createWalletClient({ bus }),
    rules: transition,
    cursors: createCursorCodec({ keyring }),
    noteConflict: createConflictNote(registry, logger),
    noteRefusedSettlement: createRefusedSettlementNote(registry, logger),
    scaleMs: createTimeScale(given.timeScale).scaleMs,
    newUuid: randomUUID,
    ...{ newId, clock, clockOffsetMs, logger },
  })
  const counted = registry === undefined ? context.rounds : countRoundStates(context.rounds, registry)
  return {
    core: { ...context, rounds: rememberLast(counted, clock) },
    audit,
    outboxes: [roundOutbox, sessionOutbox, audit],
  }
}
