import type { AuditEntry } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { fencedWrite, type Versioned } from '@pitboss/storage/change-fenced'
import { insertedFirst, isDuplicateKey } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { fieldChanges } from '@pitboss/storage/field-changes'
import { outboxIndex } from '@pitboss/storage/outbox'
import type { OutboxEntry, WithOutbox } from '@pitboss/storage/outbox-entry'
import { confirmPrimary } from '@pitboss/storage/confirm-primary'
import type { Collection, Db, Document, UpdateFilter } from 'mongodb'
import { callingRoundOf, movementIdOf, scopeOf, walletKeyOf } from '../rules/movement-keys.ts'
import type { LookReason } from '../rules/flags.ts'
import type { MovementState, UnreadableField, WalletOperation } from '../rules/movement.ts'

/** The record of one wallet call: the request without its signature, the answer, and the judgement. */
export type AttemptRecord = {
  readonly attempt: number
  readonly operation: WalletOperation
  readonly sentAt: Date
  readonly latencyMs: number | null
  readonly request: { readonly url: string; readonly timestamp: string; readonly requestId: string } | null
  readonly httpStatus: number | null
  readonly walletCode: string | null
  readonly classification: 'SUCCESS' | 'REFUSED' | 'UNKNOWN'
  readonly error: string | null
  /** Fields of the answer that say something which nobody can read. */
  readonly unreadable?: readonly UnreadableField[]
  /** First 4 KiB of the answer. */
  readonly responseExcerpt: string | null
  readonly nextAttemptAt: Date | null
  /** When its write was made up: figures count it in that minute. Earlier releases stored none. */
  readonly storedAt?: Date
}

/** The part of a movement that never changes. `amount` has all decimals of its currency. */
export type MovementFacts = Omit<MovementSpec, 'type' | 'callWallet'> & {
  readonly operatorId: string
  readonly environment: Scope['environment']
  readonly walletKey: string
  /** `txn_…`, made here. It sorts by time, so lists page by it. */
  readonly reference: string
  /**
   * The wallet's url when the movement was stored, to which its calls and its reversal's go. Movements of
   * earlier builds have none.
   */
  readonly walletUrl?: string
  /** Of the span that made it, where traces are recorded: later tries go on with the same trace. */
  readonly traceparent?: string
  /** The exact body of every call of this movement. */
  readonly body: string
}

export type MovementDocument = Versioned &
  WithOutbox &
  WithAudit &
  MovementFacts &
  MovementState & {
    /** Set while a call is in flight, and unique: a round has one call at a time. */
    readonly callingRound: string | null
    /** The latest 200. */
    readonly attempts: AttemptRecord[]
    /** `storedAt` of the latest attempt. Earlier releases stored none. */
    readonly attemptedAt?: Date
    /** Since when it waits to be looked at, and why. Absent while nobody has to. */
    readonly lookAt?: Date
    readonly lookFor?: readonly LookReason[]
  }

export const movementIndexes: Readonly<Record<'movements', readonly IndexDeclaration[]>> = {
  movements: [
    { key: { walletKey: 1, reference: 1 }, name: 'wallet_reference', unique: true },
    { key: { walletKey: 1, playerId: 1, reference: 1 }, name: 'player' },
    { key: { roundId: 1 }, name: 'round' },
    { key: { sessionId: 1 }, name: 'session' },
    {
      key: { callingRound: 1 },
      name: 'calling_round',
      unique: true,
      partialFilterExpression: { callingRound: { $gt: '' } },
    },
    {
      key: { walletKey: 1, dueAt: 1 },
      name: 'due',
      partialFilterExpression: { dueAt: { $gt: new Date(0) } },
    },
    { key: { reference: 1 }, name: 'pending', partialFilterExpression: { status: 'PENDING' } },
    // Every status but SUCCESS, and every type but BET and WIN: few of very many.
    {
      key: { walletKey: 1, status: 1, reference: 1 },
      name: 'rare_status',
      partialFilterExpression: { status: { $lt: 'SUCCESS' } },
    },
    {
      key: { walletKey: 1, type: 1, reference: 1 },
      name: 'rare_type',
      partialFilterExpression: { type: { $gt: 'BET', $lt: 'WIN' } },
    },
    {
      key: { attemptedAt: 1 },
      name: 'attempted',
      partialFilterExpression: { attemptedAt: { $gt: new Date(0) } },
    },
    { key: { lookAt: 1 }, name: 'look', partialFilterExpression: { lookAt: { $gt: new Date(0) } } },
    outboxIndex,
    auditOutboxIndex,
  ],
}

const attemptsKept = 200

/**
 * The result of an insert. `taken`: the id exists already. `round-busy`: another call of the round is in
 * flight.
 */
export type InsertResult = 'inserted' | 'taken' | 'round-busy'

export type StakeStanding = Pick<MovementState, 'status' | 'reversal'>

/** The store of movements that settlement needs. Simulations pass one with the same promises. */
export type MovementStore = {
  insert(document: MovementDocument): Promise<InsertResult>
  find(scope: Scope, transactionId: string): Promise<MovementDocument | null>
  /** As `confirmPrimary` of libs/storage. */
  confirmPrimary(): Promise<void>
  findById(id: string): Promise<MovementDocument | null>
  /** The movement of the round whose call is in flight, if any. */
  findCalling(callingRound: string): Promise<MovementDocument | null>
  /** The movements of a round, oldest first. */
  ofRound(scope: Scope, roundId: string, limit: number): Promise<MovementDocument[]>
  /** The status and reversal of each stake of a round. */
  stakesOf(scope: Scope, roundId: string): Promise<readonly StakeStanding[]>
  /**
   * Writes a step in one fenced update: the new state, its events and the attempt that caused it.
   * @returns null when the document changed meanwhile; `round-busy` when the step begins a call while another
   * one of the round is in flight
   */
  write(
    document: MovementDocument,
    step: {
      state: MovementState
      events: readonly OutboxEntry[]
      attempt: AttemptRecord | null
      audit?: AuditEntry | null
      look?: LookReason | null
    },
  ): Promise<MovementDocument | null | 'round-busy'>
}

export type Movements = MovementStore & { readonly collection: Collection<MovementDocument> }

/** The collection `movements`, which keeps the promises of `MovementStore`. */
export function createMovements(db: Db): Movements {
  const collection = db.collection<MovementDocument>('movements')
  const findById = (id: string) => collection.findOne({ _id: id })
  return {
    collection,
    findById,
    async insert(document) {
      if (await insertedFirst(() => collection.insertOne(document))) return 'inserted'
      return (await findById(document._id)) === null ? 'round-busy' : 'taken'
    },
    find: (scope, transactionId) => findById(movementIdOf(scope, transactionId)),
    confirmPrimary: () => confirmPrimary(collection),
    findCalling: (callingRound) => collection.findOne({ callingRound }),
    ofRound: (scope, roundId, limit) =>
      collection
        .find({ roundId, ...scopeOf(scope), walletKey: walletKeyOf(scope) })
        .sort({ reference: 1 })
        .limit(limit)
        .toArray(),
    stakesOf: ({ operatorId, environment }, roundId) =>
      collection
        .find({ roundId, operatorId, environment, type: 'BET' })
        .project<StakeStanding>({ _id: 0, status: 1, reversal: 1 })
        .toArray(),
    async write(document, { state, events, attempt: made, audit = null, look = null }) {
      const callingRound = state.call === null ? null : callingRoundOf(document)
      const attempt = made === null ? null : { ...made, storedAt: state.updatedAt }
      const fields: MovementDocument = {
        ...document,
        ...state,
        version: document.version,
        callingRound,
        ...(attempt === null ? {} : { attemptedAt: attempt.storedAt }),
        ...(look === null ? {} : { lookAt: state.updatedAt, lookFor: [...(document.lookFor ?? []), look] }),
      }
      const { $set, ...unset } = fieldChanges({ ...document }, { ...fields })
      const push: Document = {
        ...(events.length === 0 ? {} : { outbox: { $each: [...events] } }),
        ...(attempt === null ? {} : { attempts: { $each: [attempt], $slice: -attemptsKept } }),
      }
      // A wait is shortened without a version: unless the step has set one, the stored one stays.
      const dueAt = state.dueAt === document.dueAt ? {} : { dueAt: state.dueAt }
      const outboxAt = events.length === 0 ? document.outboxAt : state.updatedAt
      const set = { ...$set, ...dueAt, ...(events.length === 0 ? {} : { outboxAt }) }
      const update: Document = {
        ...unset,
        ...(Object.keys(set).length === 0 ? {} : { $set: set }),
        ...(Object.keys(push).length === 0 ? {} : { $push: push }),
      }
      // The driver's types cannot see that the computed fields are those of the state.
      const written = auditedUpdate<MovementDocument>(update as UpdateFilter<MovementDocument>, audit)
      try {
        if (!(await fencedWrite(collection, { _id: document._id }, document.version, written))) return null
      } catch (error) {
        if (isDuplicateKey(error)) return 'round-busy'
        throw error
      }
      const { version, attempts, outbox } = document
      return {
        ...fields,
        version: version + 1,
        attempts: attempt === null ? attempts : [...attempts, attempt].slice(-attemptsKept),
        outbox: [...outbox, ...events],
        outboxAt,
      }
    },
  }
}
