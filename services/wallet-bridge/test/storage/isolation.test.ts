import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { newProgress } from '@pitboss/contracts/certification/progress'
import { defaultFlagRules } from '@pitboss/contracts/objects/flag'
import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import type { JobDocument, JobStore } from '@pitboss/storage/job-store'
import { parseKeyring } from '@pitboss/storage/keyring'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { exactReads } from '@pitboss/testing/exact-reads'
import { holdIsolation, linesFor } from '@pitboss/testing/hold-isolation'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import { newFlag } from '../../src/wings/flags/records/render-flag.ts'
import { documentOf, initialState } from '../../src/records/new-movement.ts'
import { movementIdOf } from '../../src/rules/movement-keys.ts'
import { createJobStore } from '@pitboss/storage/job-store'
import type { CertificationDocument } from '../../src/wings/certifications/wing.ts'
import { tallyDifferences } from '../../src/wings/reconciliations/actions/run-reconciliation.ts'
import { createFlagStore } from '../../src/wings/flags/storage/flag-store.ts'
import { indexes } from '../../src/all-wings.ts'
import {
  type ReconciliationDocument,
  createLedgerChunks,
  createReconciliations,
} from '../../src/wings/reconciliations/storage/reconciliation-store.ts'
import { createListedMovements } from '../../src/storage/listed-movements.ts'
import { createMovementStore } from '../../src/storage/movement-store.ts'
import { createUnfinishedMovements } from '../../src/storage/unfinished-movements.ts'
import { createMovementLists } from '../../src/storage/movement-lists.ts'
import { createCallbackSignatures, createWallets } from '../../src/storage/wallet-document.ts'
import { specOf } from '../fixtures/bridge.ts'
import { shardedMovements } from '../fixtures/sharded-movements.ts'
import { testJournal } from '../fixtures/test-money.ts'

type Ids = {
  transactionId: string
  roundId: string
  playerId: string
  signature: string
  flagId: string
  certificationId: string
  reconciliationId: string
}

const owner: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
const now = new Date()
const hourMs = 60 * 60 * 1000
const window = { from: new Date(now.getTime() - hourMs), to: new Date(now.getTime() + hourMs) }
const settings = { url: 'https://wallet.example/', timeoutMs: 2000, settleLosses: 'none' } as const
const otherSettings = { ...settings, timeoutMs: 3000 }

const db = await openTestDatabase(t)
await ensureIndexes(db, indexes)
const journal = testJournal(shardedMovements(db))
const listed = createListedMovements(shardedMovements(db))
const unfinished = createUnfinishedMovements({ journal, scaleMs: (ms) => ms })
const movements = createMovementStore({ journal, unfinished, lists: listed, isListed: async () => undefined })
const lists = createMovementLists(listed)
const flags = createFlagStore(db)
const certifications = createJobStore(db.collection<CertificationDocument>('certifications'), 'cases')
const reconciliations = createReconciliations(db)
const chunks = createLedgerChunks(db)
const secretBox = createSecretBox(parseKeyring(`k1:${randomBytes(32).toString('base64')}`))
const wallets = createWallets(db, secretBox, exactReads)
const signatures = createCallbackSignatures(db)

const entryOf = () => sampleAuditEntry()
const entry = entryOf()
const ids: Ids = named('the-owners')
await wallets.create(owner, { ...settings, secret: 'the secret', at: now }, entryOf)
await signatures.use(scopeKey(owner), '1', ids.signature, now)
for (const document of [stakeIn(owner, ids), waitingWinIn(owner)]) {
  const stored = await movements.insert(document)
  if (typeof stored === 'string' || 'refused' in stored) throw new Error('it is not stored')
  await listed.write([{ ...stored, open: true, o: 'ins_test' }])
}
await flags.insert(flagIn(owner, ids))
await certifications.insert(certificationIn(owner, ids))
await reconciliations.insert(reconciliationIn(owner, ids))
await chunks.keep(owner, ids.reconciliationId, 0, [{ ok: false, line: 1, message: 'no row' }], now)
const counted = { ...ids, reference: newId('txn'), createdAt: now }
await flags.count(owner, ids.playerId, counted, now)

const { scoped, internal, table } = linesFor<Ids>()
/** Held by libs/bus/test/permissions.test.ts. */
const operations =
  'only actions/operate-movements.ts calls it, and only the ops user of NATS may call wallet.v1.ops.*'

const claimed = 'only the worker of a job calls it, with the job that it has claimed'

await holdIsolation(t, {
  db,
  owner,
  ids,
  neverMade: named('nobodys'),
  folder: new URL('../../src/storage/', import.meta.url),
  storesOfLibs: {
    certifications: jobTable(certifications, certificationIn, (ids) => ids.certificationId),
  },
  stores: {
    createCallbackSignatures: table(signatures, {
      use: scoped((scope, { signature }) => signatures.use(scopeKey(scope), '1', signature, now)),
    }),
    createReconciliations: jobTable(reconciliations, reconciliationIn, (ids) => ids.reconciliationId),
    createLedgerChunks: table(chunks, {
      keep: internal('only run-reconciliation.ts calls it, with an id that the gateway has just made'),
      count: scoped((scope, ids) => chunks.count(scope, ids.reconciliationId)),
      read: scoped((scope, ids) => chunks.read(scope, ids.reconciliationId, 0)),
      remove: internal('only the worker of a job and its cancel call it, with a job found under a scope'),
    }),
    createUnfinishedMovements: table(unfinished, {
      nextWallet: internal(
        'only workers/resolver.ts calls it; it takes no id and gives a wallet key to no caller',
      ),
      ofWallet: scoped((scope) => unfinished.ofWallet(scopeKey(scope), now, 10)),
      pullForward: scoped((scope) => unfinished.pullForward(scopeKey(scope), now)),
      putOff: internal('only advance-due.ts calls it, with a movement that it was given as due'),
      own: internal('only this folder calls it, with the movements of an entry that it has appended'),
      leave: internal('only this folder calls it; it forgets what another process goes on with'),
      clear: internal('only open-money.ts calls it; it forgets'),
      endLongWaits: internal(
        'only start-upkeep.ts calls it; it takes a time, names no movement and returns a count',
      ),
      nextDueMs: internal('a time; only simulations call it'),
    }),
    createFlagStore: table(flags, {
      insert: scoped((scope, ids) => flags.insert({ ...flagIn(scope, ids), _id: newId('flg') })),
      grow: internal(
        'only wings/flags/wing.ts calls it, with the id that follows from the account of a movement',
      ),
      count: scoped(async (scope, { playerId }) => {
        const movement = { transactionId: 'another', reference: newId('txn'), createdAt: now }
        return (await flags.count(scope, playerId, movement, now)).transactionIds.length
      }),
      find: scoped((scope, { flagId }) => flags.find(scope, flagId)),
      list: scoped((scope, { playerId }) => flags.list(scope, { playerId }, { before: null, limit: 10 })),
      change: scoped(async (scope, { flagId }) => {
        const flag = await flags.find(scope, flagId)
        return flag === null ? null : flags.change(flag, { ...flag, status: 'CLOSED' }, entryOf())
      }),
    }),
    createMovementLists: table(lists, {
      newestFirst: scoped(async (scope, { playerId, roundId }) => {
        const page = { before: null, limit: 10 }
        const named = await lists.newestFirst(scope, { playerId, roundId }, page)
        return [named, await lists.newestFirst(scope, { status: 'PENDING' }, page)]
      }),
      oldestFirst: scoped((scope) => lists.oldestFirst(scope, window, { after: null, limit: 10 })),
      byTransactionIds: scoped((scope, { transactionId }) => lists.byTransactionIds(scope, [transactionId])),
      overall: internal(operations),
      byReference: scoped((scope, { transactionId }) => lists.byReference(transactionId, [scopeKey(scope)])),
      inDoubt: internal(operations),
      ofRound: internal(operations),
      calledSince: internal('only read-call-series.ts calls it, to count calls of every account'),
      unresolved: scoped((scope) => lists.unresolved(scope)),
      oldestOf: scoped((scope) => lists.oldestOf(scope)),
      figures: internal(
        'takes a time and returns counts; only operate-movements.ts and watch-lists.ts call it',
      ),
    }),
    createListedMovements: table(listed, {
      collection: internal('only this folder reads it'),
      write: internal('only open-money.ts calls it, with what entries make of their own movements'),
      newAmong: internal('as `write`; it reads and changes nothing'),
      find: scoped((scope, { transactionId }) => listed.find(movementIdOf(scope, transactionId))),
      ofRound: scoped((scope, { roundId }) => listed.ofRound(scope, roundId, 10)),
      unowned: internal('only open-money.ts calls it, to take rounds over; it gives no movement to a caller'),
      confirmPrimary: internal('movement-store.ts; it reads and changes nothing'),
    }),
    createMovementStore: table(movements, {
      insert: scoped(async (scope, ids) => (await movements.insert(stakeIn(scope, ids))) === 'taken'),
      find: scoped((scope, { transactionId }) => movements.find(scope, transactionId)),
      confirmPrimary: internal('place-reversal.ts; it reads and changes nothing'),
      findById: scoped((scope, { transactionId }) => movements.findById(movementIdOf(scope, transactionId))),
      ofRound: scoped((scope, { roundId }) => movements.ofRound(scope, roundId, 10)),
      write: scoped(async (scope, { transactionId }) => {
        const document = await movements.find(scope, transactionId)
        if (document === null) return null
        const state = { ...document, tries: document.tries + 1 }
        return movements.write(document, { state, events: [], attempt: null })
      }),
      republish: internal('only republishEnds calls it, with a movement that it has read'),
      listed: internal('takes a movement that a store has given; it returns nothing'),
    }),
    createWallets: table(wallets, {
      find: scoped((scope) => wallets.find(scope)),
      copy: scoped((scope) => wallets.copy(scope)),
      open: scoped((scope) => wallets.open(scope)),
      openDocument: scoped(async (scope) => {
        const document = await wallets.find(scope)
        return document === null ? null : wallets.openDocument(document)
      }),
      change: internal('takes a document that the caller has read within a scope'),
      drop: internal('empties the memory of processes; it reads and changes nothing'),
      create: scoped(
        async (scope) =>
          (await wallets.create(scope, { ...otherSettings, secret: 'another', at: now }, entryOf)) === null,
      ),
      replaceSecret: scoped((scope) =>
        wallets.replaceSecret(scope, { secret: 'another', overlapS: 0, at: now }, entryOf),
      ),
      setFlagRules: scoped((scope) => wallets.setFlagRules(scope, defaultFlagRules, entryOf)),
      keysAfter: internal(operations),
    }),
  },
  // Parts of the stores above, and what only app.ts calls.
  others: [
    ...[
      'callersOf',
      'callingBeside',
      'claimOf',
      'claimsOf',
      'evolveMoney',
      'findUpgrade',
      'firstEntryOf',
      'fromListed',
    ],
    ...['fromEarlier', 'isSettled', 'listedAfter', 'looksOf', 'moneyOf', 'moneyOptions', 'moneyStream'],
    ...['openMoney', 'takeOverMoney', 'upgradeStorage', 'alsoOf', 'decidedOf', 'isStale', 'transactionIdIn'],
  ],
})

/** Ids that begin alike. Only ids that operators or players choose can be the same for two accounts. */
function named(whose: string): Ids {
  return {
    transactionId: `${whose}-bet`,
    roundId: newId('rnd'),
    playerId: `${whose}-player`,
    signature: `${whose}-signature`,
    flagId: newId('flg'),
    certificationId: newId('crt'),
    reconciliationId: newId('rcn'),
  }
}

function jobTable<Job extends JobDocument, Large extends keyof Job & string>(
  jobs: JobStore<Job, Large>,
  jobIn: (scope: Scope, ids: Ids) => Job,
  idOf: (ids: Ids) => string,
) {
  return table(jobs, {
    insert: scoped((scope, ids) => jobs.insert({ ...jobIn(scope, ids), _id: newId('job') })),
    find: scoped((scope, ids) => jobs.find(scope, idOf(ids))),
    findRunning: scoped((scope) => jobs.findRunning(scope, scopeKey(scope))),
    list: scoped((scope) => jobs.list(scope, scopeKey(scope), { before: null, limit: 10 })),
    cancel: scoped((scope, ids) => jobs.cancel(scope, idOf(ids), {}, now, entry)),
    claim: internal('only its workers call it, over every account'),
    ...{ release: internal(claimed), renew: internal(claimed) },
    ...{ progress: internal(claimed), finish: internal(claimed) },
  })
}

function certificationIn(scope: Scope, { certificationId, playerId }: Ids): CertificationDocument {
  return {
    ...{ _id: certificationId, ...scope, subject: scopeKey(scope), status: 'RUNNING', playerId },
    ...{ claimedUntil: new Date(0), claimToken: 0, createdAt: now, finishedAt: null },
    ...{ walletUpdatedAt: now, currency: 'USD', blockedPlayerId: null, unknownPlayerId: null },
    ...newProgress(settings.url, 1),
  }
}

function reconciliationIn(scope: Scope, { reconciliationId }: Ids): ReconciliationDocument {
  const { counts, differences } = tallyDifferences()
  return {
    ...{ _id: reconciliationId, ...scope, subject: scopeKey(scope), status: 'RUNNING' },
    ...{ claimedUntil: new Date(0), claimToken: 0, createdAt: now, finishedAt: null, ...window },
    ...{ chunks: 1, linesTotal: 1, lines: 0, matched: 0, counts, differences, reason: null },
  }
}

function flagIn(scope: Scope, { transactionId, roundId, playerId, flagId }: Ids) {
  const movement = documentOf({
    ...{ scope, reference: newId('txn'), state: initialState('WIN', now) },
    spec: specOf({ type: 'WIN', transactionId, roundId, playerId }),
  })
  const fact = { rule: 'BIG_WIN', about: transactionId, of: movement.reference } as const
  const flag = newFlag(movement, { ...fact, happenedAt: now, raisedAt: now, transactionIds: [transactionId] })
  return { ...flag, _id: flagId }
}

/** A stake whose call is in flight. */
function stakeIn(scope: Scope, { transactionId, roundId, playerId }: Ids) {
  const spec = specOf({ transactionId, roundId, playerId, game: 'dice', requestHash: '' })
  const state = initialState('BET', now)
  const document = documentOf({ scope, spec, reference: newId('txn'), state })
  return document
}

/** A win of another round and player that waits an hour for its next try. */
function waitingWinIn(scope: Scope) {
  const state = { ...initialState('WIN', now), dueAt: new Date(now.getTime() + hourMs) }
  return documentOf({ scope, spec: specOf({ type: 'WIN' }), reference: newId('txn'), state })
}
