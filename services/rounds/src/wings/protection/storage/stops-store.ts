import type { AuditEntry } from '@pitboss/contracts/audit'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { auditedInsert, auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { readToEnd } from '@pitboss/storage/bounded-read'
import { insertedFirst } from '@pitboss/storage/create-once'
import { type IndexDeclaration, partialIndex } from '@pitboss/storage/ensure-indexes'
import type { Db, Filter } from 'mongodb'
import type { PageBounds } from '../../../storage/round-document.ts'
import type { LastBet } from '../rules/stop.ts'

const dueMax = 100
const epoch = new Date(0)
const isDue = { dueAt: { $gt: epoch } }
const waits = { unsigned: true, roundsEndedAt: { $ne: null } }

/** A stop of a player: no new stake from `from` until `endsAt`, in all games and sessions. */
export type StopDocument = WithAudit &
  Scope & {
    _id: string
    scope: string
    playerId: string
    reason: string
    from: Date
    /** As asked for; null for a stop without an end. */
    until: Date | null
    /** `until`, or far in the future. */
    endsAt: Date
    liftedAt: Date | null
    liftReason: string | null
    roundsEndedAt: Date | null
    lastBet: LastBet | null
    /** From its start until it is lifted or the next stop begins. */
    inForce: boolean
    /** True from the start until the record is signed; absent in stops of earlier releases. */
    unsigned?: boolean
    /** The bytes of the record, once its rounds have ended, and their signature, a compact JWS. */
    record?: { readonly text: string; readonly jws: string | null }
    /** When a worker looks at the player's rounds next; null once all have ended. */
    dueAt: Date | null
  }

/** One document of a player is in force: it decides between replicas. */
export const stopIndexes: readonly IndexDeclaration[] = [
  { key: { scope: 1, playerId: 1, _id: -1 }, name: 'scope_player_id' },
  { ...partialIndex('one_in_force', { scope: 1, playerId: 1 }, { inForce: true }), unique: true },
  partialIndex('due_at', { dueAt: 1 }, isDue),
  partialIndex('unsigned', { unsigned: 1, _id: 1 }, { unsigned: true }),
  auditOutboxIndex,
]

type WantedStop = Pick<StopDocument, 'reason' | 'until' | 'endsAt'>

export type StopsStore = ReturnType<typeof createStopsStore>

export function createStopsStore({ db }: { db: Db }) {
  const stops = db.collection<StopDocument>('player_stops')
  const ofPlayer = (scope: Scope, playerId: string) => ({ scope: scopeKey(scope), playerId })
  const change = (filter: Filter<StopDocument>, $set: Partial<StopDocument>, audit: AuditEntry | null) =>
    stops.findOneAndUpdate(filter, auditedUpdate<StopDocument>({ $set }, audit), { returnDocument: 'after' })

  return {
    /** The player's stop that was begun last and not lifted, over or not; null for none. */
    current: (scope: Scope, playerId: string) =>
      stops.findOne({ ...ofPlayer(scope, playerId), inForce: true }),

    /** Begins a stop in the place of one that is over; false when the player has one. */
    async begin(stop: StopDocument, audit: AuditEntry | null): Promise<boolean> {
      const { scope, playerId, from } = stop
      const over = { scope, playerId, inForce: true, endsAt: { $lte: from } }
      await stops.updateOne(over, { $set: { inForce: false } })
      const document = audit === null ? stop : { ...stop, ...auditedInsert(audit) }
      return insertedFirst(() => stops.insertOne(document))
    },

    /** Moves the end of a stop, never nearer. Null when it would come nearer, or the stop is over. */
    extend: (scope: Scope, _id: string, wanted: WantedStop, now: Date, audit: AuditEntry | null) => {
      const { reason, until, endsAt } = wanted
      const inForce = { _id, scope: scopeKey(scope), inForce: true, endsAt: { $gt: now, $lte: endsAt } }
      return change(inForce, { reason, until, endsAt }, audit)
    },

    lift: (scope: Scope, playerId: string, now: Date, liftReason: string, audit: AuditEntry | null) => {
      const inForce = { ...ofPlayer(scope, playerId), inForce: true, endsAt: { $gt: now } }
      return change(inForce, { inForce: false, liftedAt: now, liftReason }, audit)
    },

    list: (scope: Scope, playerId: string, { before, max }: PageBounds) => {
      const older = before === null ? {} : { _id: { $lt: before } }
      return readToEnd(
        stops.find({ ...ofPlayer(scope, playerId), ...older }, { sort: { _id: -1 }, limit: max }),
      )
    },

    /** Stops of all accounts whose players' rounds have to be looked at, longest due first. */
    findDue: (now: Date) =>
      stops
        .find({ dueAt: { $gt: epoch, $lte: now } }, { sort: { dueAt: 1 }, hint: 'due_at', limit: dueMax })
        .toArray(),

    async postpone(stopId: string, dueAt: Date): Promise<void> {
      await stops.updateOne({ _id: stopId, ...isDue }, { $set: { dueAt } })
    },

    /** Keeps that the rounds of the player have ended, and the last bet. The first to say so counts. */
    async settle(stopId: string, roundsEndedAt: Date, lastBet: LastBet | null): Promise<void> {
      await stops.updateOne({ _id: stopId, ...isDue }, { $set: { roundsEndedAt, lastBet, dueAt: null } })
    },

    findUnsigned: () => stops.find(waits, { sort: { _id: 1 }, hint: 'unsigned', limit: dueMax }).toArray(),

    /** Stores the record's bytes for good. False when they stand, or the stop changed since it was read. */
    async keepRecord({ _id, reason, endsAt, liftedAt }: StopDocument, text: string): Promise<boolean> {
      const { matchedCount } = await stops.updateOne(
        { _id, record: { $exists: false }, reason, endsAt, liftedAt },
        { $set: { record: { text, jws: null } } },
      )
      return matchedCount === 1
    },

    /** Keeps the signature of the record; the first one counts. */
    async keepSignature(stopId: string, jws: string): Promise<void> {
      await stops.updateOne(
        { _id: stopId, unsigned: true, 'record.jws': null },
        { $set: { 'record.jws': jws }, $unset: { unsigned: true } },
      )
    },
  }
}
