import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { WithAudit } from '@pitboss/storage/audit-outbox'
import { confirmPrimary } from '@pitboss/storage/confirm-primary'
import { type IndexDeclaration, partialIndex as partial } from '@pitboss/storage/ensure-indexes'
import { entryNumber } from '@pitboss/storage/journal/journal-keys'
import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import { type Packed, unpackOthers } from '@pitboss/storage/packed'
import { createListDocuments } from '@pitboss/storage/journal/list-documents'
import type { Db, Filter, FindOptions } from 'mongodb'
import { hasWork } from '../rules/movement.ts'
import { type MoneyEntry, moneyOf } from './round-money.ts'
import type { MovementDocument } from './movement-document.ts'

/** While it has something left to do, `n` and `w` are of the last entry of its round. */
export type ListedMovement = MovementDocument & {
  /** Absent when it has nothing left to do. */
  readonly open?: true
  /** While it is open: the instance that wrote the last entry of its round. */
  readonly o?: string
}

const plainFields = [
  ...(['_id', 'n', 'o', 'open', 'walletKey', 'reference', 'roundId', 'sessionId', 'playerId'] as const),
  ...(['type', 'status', 'createdAt', 'attemptedAt', 'inDoubt', 'ofRefused', 'reversal'] as const),
]
type PlainField = (typeof plainFields)[number]

/** The only fields by which the documents of movements are found and sorted. */
export const plainMovementFields: ReadonlySet<PlainField> = new Set(plainFields)

/** A movement as it is stored: lists find and sort only by its plain fields. */
export type StoredMovement = Packed<ListedMovement, PlainField>

const someTime = { $gt: new Date(0) }

/** Indexes of earlier builds, which found there what is now in the journal or in memory. */
const earlier: readonly IndexDeclaration[] = [
  partial('calling_round', { callingRound: 1 }, { callingRound: { $gt: '' } }),
  partial('due', { walletKey: 1, dueAt: 1 }, { dueAt: someTime }),
  partial('look', { lookAt: 1 }, { lookAt: someTime }),
  partial('outbox_at', { outboxAt: 1 }, { outboxAt: someTime }),
  partial('audit_outbox', { auditOutboxAt: 1 }, { auditOutboxAt: someTime }),
]

export const movementIndexes: Readonly<Record<'movements', readonly IndexDeclaration[]>> = {
  movements: [
    { key: { walletKey: 1, reference: 1 }, name: 'wallet_reference', unique: true },
    { key: { walletKey: 1, playerId: 1, reference: 1 }, name: 'player' },
    { key: { roundId: 1 }, name: 'round' },
    { key: { sessionId: 1 }, name: 'session' },
    partial('open', { open: 1, o: 1, walletKey: 1 }, { open: true }),
    partial('pending', { reference: 1 }, { status: 'PENDING' }),
    // Every status but SUCCESS, and every type but BET and WIN: few of very many.
    partial('rare_status', { walletKey: 1, status: 1, reference: 1 }, { status: { $lt: 'SUCCESS' } }),
    partial('rare_type', { walletKey: 1, type: 1, reference: 1 }, { type: { $gt: 'BET', $lt: 'WIN' } }),
    partial('attempted', { attemptedAt: 1 }, { attemptedAt: someTime }),
    ...earlier.map((index) => ({ ...index, retired: true })),
  ],
}

export type ListedMovements = Omit<ReturnType<typeof createListedMovements>, 'collection'>

/** The collection `movements`. Documents of earlier builds have no number. */
export function createListedMovements(db: Db) {
  const collection = db.collection<StoredMovement>('movements')
  const documents = createListDocuments(collection, { plain: plainMovementFields })
  const read = (filter: Filter<StoredMovement>, limit: number, options: FindOptions = {}) =>
    collection.find(filter, options).limit(limit).map(fromListed).toArray()
  return {
    collection,
    /** Shows these movements, each only over an earlier state of it. */
    async write(movements: readonly ListedMovement[]): Promise<void> {
      await Promise.all(movements.map((movement) => documents.write(movement)))
    },
    newAmong: documents.newAmong,
    async find(id: string): Promise<MovementDocument | null> {
      const found = await collection.findOne({ _id: id })
      return found === null ? null : fromListed(found)
    },
    /** The movements of a round, oldest first. */
    ofRound: (scope: Scope, roundId: string, limit: number): Promise<MovementDocument[]> =>
      read({ roundId, walletKey: scopeKey(scope) }, limit, { sort: { reference: 1 } }),
    /** Unfinished movements of every account whose last writer is not among these instances. */
    unowned: (limit: number, alive: readonly string[]): Promise<MovementDocument[]> =>
      read({ open: true, o: { $nin: [...alive] } }, limit, { hint: 'open' }),
    confirmPrimary: () => confirmPrimary(collection),
  }
}

export function listedAfter(entries: readonly MoneyEntry[]): ListedMovement[] {
  const last = entries.at(-1)
  if (last === undefined) return []
  const shown = { n: entryNumber(last._id), w: last.w, o: last.o, open: true } as const
  return [...moneyOf(entries).values()].map((one) => (hasWork(one) ? { ...one, ...shown } : one))
}

export function fromListed(stored: StoredMovement): MovementDocument {
  const listed = unpackOthers<ListedMovement | EarlierMovement>(stored)
  if ('version' in listed) return fromEarlier(listed)
  const { open: _, o: __, ...movement } = listed
  return movement
}

/** A movement as builds before the journal stored it. */
export type EarlierMovement = Omit<MovementDocument, 'n' | 'w'> &
  WithAudit & {
    readonly version: number
    readonly callingRound: string | null
    readonly lookAt?: Date
    readonly outbox: readonly RenderedEvent[]
    readonly outboxAt: Date | null
    /** Present in what this build has written. */
    readonly n?: number
  }

/** The movement without what is now in the journal or in memory. */
export function fromEarlier(earlier: EarlierMovement): MovementDocument {
  const { version: _version, callingRound: _calling, lookAt: _lookAt, ...movement } = earlier
  const { outbox: _outbox, outboxAt: _outboxAt, ...rest } = movement
  const { auditOutbox: _audit, auditOutboxAt: _auditAt, auditRemoves: _removes, ...plain } = rest
  return { ...plain, n: 0, w: '' }
}
