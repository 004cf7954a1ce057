import type { Scope } from '@pitboss/contracts/caller'
import type { OutboxEntry } from '@pitboss/storage/outbox-entry'
import { fencedUpdate } from '@pitboss/storage/change-fenced'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { Collection, Db, Document, UpdateFilter } from 'mongodb'
import type { MovementState } from '../rules/movement.ts'
import { callingRoundOf, movementIdOf, scopeOf, walletKeyOf } from '../rules/movement-keys.ts'
import type { AttemptRecord, MovementDocument } from './movement-document.ts'

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
    step: { state: MovementState; events: readonly OutboxEntry[]; attempt: AttemptRecord | null },
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
      try {
        await collection.insertOne(document)
        return 'inserted'
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        return (await findById(document._id)) === null ? 'round-busy' : 'taken'
      }
    },
    find: (scope, transactionId) => findById(movementIdOf(scope, transactionId)),
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
    async write(document, { state, events, attempt }) {
      const set = changedFields(document, state)
      const push: Document = {
        ...(events.length === 0 ? {} : { outbox: { $each: [...events] } }),
        ...(attempt === null ? {} : { attempts: { $each: [attempt], $slice: -attemptsKept } }),
      }
      const update: Document = {
        $set: events.length === 0 ? set : { ...set, outboxAt: state.updatedAt },
        ...(Object.keys(push).length === 0 ? {} : { $push: push }),
      }
      try {
        // The driver's types cannot see that the computed fields are those of the state.
        const fields = update as UpdateFilter<MovementDocument>
        return await fencedUpdate(collection, document._id, document.version, fields)
      } catch (error) {
        if (isDuplicateKey(error)) return 'round-busy'
        throw error
      }
    },
  }
}

/** The fields of the state that differ, and `callingRound`, which follows from `call`. */
function changedFields(document: MovementDocument, state: MovementState): Document {
  const before = new Map<string, unknown>(Object.entries(document))
  const changed = Object.entries(state).filter(([field, value]) => before.get(field) !== value)
  const callingRound = state.call === null ? null : callingRoundOf(document)
  return {
    ...Object.fromEntries(changed),
    ...(callingRound === document.callingRound ? {} : { callingRound }),
  }
}
