import type { AuditEntry } from '@pitboss/contracts/audit'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { flagMax, type FlagRule, type FlagStatus } from '@pitboss/contracts/objects/flag'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { boundedRead } from '@pitboss/storage/bounded-read'
import { fencedUpdate, type Versioned } from '@pitboss/storage/change-fenced'
import { insertedFirst } from '@pitboss/storage/create-once'
import { createdFilter, definedOf } from '@pitboss/storage/created-within'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Db, Filter } from 'mongodb'
import type { MovementDocument } from '../../../storage/movement-document.ts'
import { listMsMax, type MovementFilters, tooLong } from '../../../storage/movement-lists.ts'

type FlagNote = { readonly at: Date } & Readonly<Record<'by' | 'userId' | 'text', string>>

/** A flag with its case. `_id` follows from account, rule and fact, so each fact has one. */
export type FlagDocument = Versioned &
  WithAudit &
  Scope &
  Readonly<Record<'playerId' | 'game' | 'roundId' | 'amount' | 'currency', string | null>> & {
    readonly walletKey: string
    readonly rule: FlagRule
    readonly status: FlagStatus
    readonly transactionIds: readonly string[]
    readonly notes: readonly FlagNote[]
    /** The time of the first movement, which `_id` begins with. */
    readonly happenedAt: Date
    readonly raisedAt: Date
    readonly updatedAt: Date
  }

/** The movements of unknown outcome of one UTC day and subject, the first of them apart. */
export type UnknownCount = {
  readonly _id: string
  readonly first: { readonly reference: string; readonly at: Date }
  readonly transactionIds: readonly string[]
  readonly createdAt: Date
}

export type CaseFields = Pick<FlagDocument, 'status' | 'notes' | 'updatedAt'>

export type FlagFilters = Pick<MovementFilters, 'playerId' | 'from' | 'to'> & {
  readonly rule?: FlagRule | undefined
  readonly status?: FlagStatus | undefined
}

type Before = { readonly before: string | null; readonly limit: number }
type Counted = 'transactionId' | 'reference' | 'createdAt'

/** Longer than any movement of a day is first called. */
const countsKeptS = 40 * 24 * 60 * 60

export const flagIndexes: Readonly<Record<'flags' | 'flag_counts', readonly IndexDeclaration[]>> = {
  flags: [
    { key: { walletKey: 1, _id: -1 }, name: 'wallet_id' },
    { key: { walletKey: 1, status: 1, _id: -1 }, name: 'wallet_status_id' },
    auditOutboxIndex,
  ],
  flag_counts: [{ key: { createdAt: 1 }, name: 'created_at', expireAfterSeconds: countsKeptS }],
}

export type FlagStore = ReturnType<typeof createFlagStore>

export function createFlagStore(db: Db) {
  const flags = db.collection<FlagDocument>('flags')
  const counts = db.collection<UnknownCount>('flag_counts')
  return {
    /** Inserts the flag; false when the fact has one. */
    insert: (flag: FlagDocument): Promise<boolean> => insertedFirst(() => flags.insertOne(flag)),
    /** Lets a flag name these movements, when it names fewer. */
    async grow(flagId: string, transactionIds: readonly string[], now: Date): Promise<void> {
      const next = `transactionIds.${transactionIds.length - 1}`
      const update = { $set: { transactionIds, updatedAt: now }, $inc: { version: 1 } }
      await flags.updateOne({ _id: flagId, [next]: { $exists: false } }, update)
    },
    /** Counts a movement once. @returns all of its subject, up to `flagMax.transactions` */
    async count(
      scope: Scope,
      subject: string,
      { transactionId, reference, createdAt }: Readonly<Pick<MovementDocument, Counted>>,
      now: Date,
    ): Promise<UnknownCount> {
      const _id = `${scopeKey(scope)}/${subject}`
      // Refused as a duplicate when the movement is counted already.
      await insertedFirst(() =>
        counts.updateOne(
          { _id, transactionIds: { $ne: transactionId } },
          {
            $push: { transactionIds: { $each: [transactionId], $slice: flagMax.transactions } },
            $setOnInsert: { first: { reference, at: createdAt }, createdAt: now },
          },
          { upsert: true },
        ),
      )
      const counted = await counts.findOne({ _id })
      if (counted === null) throw new Error(`the count ${_id} was written and is not found`)
      return counted
    },
    find: (scope: Scope, flagId: string) => flags.findOne({ _id: flagId, walletKey: scopeKey(scope) }),
    /** Newest first by the time of the first movement. */
    list(scope: Scope, { from, to, ...named }: FlagFilters, { before, limit }: Before) {
      const page = createdFilter({ prefix: 'flg', from, to, before }, '_id', 'happenedAt')
      const filter: Filter<FlagDocument> = { walletKey: scopeKey(scope), ...definedOf(named), ...page }
      const found = flags.find(filter).sort({ _id: -1 }).limit(limit).maxTimeMS(listMsMax)
      return boundedRead(() => found.toArray(), tooLong)
    },
    /** Changes the case under the version that was read; null when another change was first. */
    change({ _id, version, walletKey }: FlagDocument, fields: CaseFields, audit: AuditEntry) {
      const update = auditedUpdate<FlagDocument>({ $set: fields }, audit)
      return fencedUpdate(flags, { _id, walletKey }, version, update)
    },
  }
}
