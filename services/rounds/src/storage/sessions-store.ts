import type { AuditEntry } from '@pitboss/contracts/audit'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { Jurisdiction, StakeCapName } from '@pitboss/contracts/jurisdictions'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { areFew } from '@pitboss/storage/are-few'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { readToEnd } from '@pitboss/storage/bounded-read'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { createGroupFind, findByIds } from '@pitboss/storage/group-find'
import { idempotencyKeyLifetimeMs } from '@pitboss/storage/idempotency-keys'
import { entryId, streamKey, type StreamKey } from '@pitboss/storage/journal/journal-keys'
import { entryOf, type StoredDocument, storedOf } from '@pitboss/storage/journal/mongodb-journal'
import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import type { Db, Filter, UpdateFilter } from 'mongodb'
import type { StakeRange } from '../rules/limits.ts'
import type { sessionStatusAt, SessionTimes } from '../rules/live-rules.ts'
import { type Filters, type PageBounds, pageFilter } from './round-document.ts'

const timesMax = 10_000
/** Sessions whose entries are erased at once. */
const erasedAtOnce = 16

/** A session of one player at one game. `metadata` is pairs, so that keys mean nothing to the database. */
export type SessionDocument = {
  _id: string
  version: number
  scope: string
  operatorId: string
  environment: 'SANDBOX' | 'LIVE'
  playerId: string
  game: string
  currency: string
  brandId: string | null
  language: string | null
  country: string | null
  returnUrl: string | null
  metadata: { key: string; value: string }[]
  /** Minor units as text. */
  limits: { minStake: string | null; maxStake: string | null } | null
  /** Absent for `NONE`, and in documents of earlier releases. */
  jurisdiction?: Exclude<Jurisdiction, 'NONE'>
  /** Seconds from one reality check to the next; absent where there is none. */
  realityCheckS?: number
  /** The cap on a stake that it was opened with; absent for none. */
  stakeCap?: StakeCapName
  /** The last reality check that the player answered by going on; absent before the first. */
  realityCheckedAt?: Date
  /** The stop of the player that closed it; absent for other sessions, and once the stop is lifted. */
  stop?: { id: string; endsAt: Date }
  /** Its player has, or once had, limits: a stake has to be counted. Absent for other players. */
  limited?: true
  createdAt: Date
  expiresAt: Date
  closedAt: Date | null
} & WithAudit

export type NewSession = Omit<SessionDocument, 'version'>

export type SessionFilters = Filters<'playerId'> & {
  readonly status?: ReturnType<typeof sessionStatusAt> | undefined
}

const epoch = new Date(0)

export const sessionIndexes: readonly IndexDeclaration[] = [
  { key: { scope: 1, _id: -1 }, name: 'scope_id' },
  { key: { scope: 1, playerId: 1, _id: -1 }, name: 'scope_player_id' },
  { key: { operatorId: 1, expiresAt: 1 }, name: 'operator_expires' },
  // Few sessions are closed before they expire.
  { key: { scope: 1, _id: -1 }, name: 'scope_closed', partialFilterExpression: { closedAt: { $gt: epoch } } },
  // Of releases whose sessions held their events themselves: the upgrade finds those by it.
  { key: { outboxAt: 1 }, name: 'outbox_at', partialFilterExpression: { outboxAt: { $gt: epoch } } },
  auditOutboxIndex,
]

export type SessionsStore = ReturnType<typeof createSessionsStore>

/** @param open appends a session with its event and writes its document; false where it was opened before */
export function createSessionsStore({
  db,
  open,
}: {
  db: Db
  open: (session: NewSession, event: RenderedEvent) => Promise<boolean>
}) {
  const sessions = db.collection<SessionDocument>('sessions')
  const findTogether = createGroupFind<SessionDocument>((ids) => findByIds(sessions, ids))
  const change = (filter: Filter<SessionDocument>, update: UpdateFilter<SessionDocument>) =>
    sessions.updateMany(filter, { ...update, $inc: { version: 1 } })

  return {
    /** Opens the session with its event, or answers the one that has this id already. */
    async insert(session: NewSession, event: RenderedEvent): Promise<SessionDocument> {
      if (await open(session, event)) return { ...session, version: 1 }
      const { _id, scope } = session
      const present = await sessions.findOne({ _id, scope })
      if (present === null) throw new Error(`session ${_id} was opened before and is not there`)
      return present
    },

    /** Writes the document of an opened session unless it is there: what has changed since stays. */
    async show(session: NewSession): Promise<void> {
      await insertedFirst(() => sessions.insertOne({ ...session, version: 1 }))
    },

    async find(scope: Scope, sessionId: string): Promise<SessionDocument | null> {
      const found = await findTogether(sessionId)
      return found?.scope === scopeKey(scope) ? found : null
    },

    /** Closes a session once, with its audit entry. Null for an unknown one. */
    async close(scope: Scope, sessionId: string, now: Date, audit: AuditEntry | null = null) {
      const closed = await sessions.findOneAndUpdate(
        { _id: sessionId, scope: scopeKey(scope), closedAt: null },
        auditedUpdate<SessionDocument>({ $set: { closedAt: now }, $inc: { version: 1 } }, audit),
        { returnDocument: 'after' },
      )
      return closed ?? sessions.findOne({ _id: sessionId, scope: scopeKey(scope) })
    },

    /** Closes the player's active sessions for a stop, and gives all that it closed its end. */
    async stopAll(scope: Scope, playerId: string, stop: NonNullable<SessionDocument['stop']>, now: Date) {
      const ofPlayer = { scope: scopeKey(scope), playerId }
      await change(
        { ...ofPlayer, closedAt: null, expiresAt: { $gt: now } },
        { $set: { closedAt: now, stop } },
      )
      const earlier = { 'stop.id': stop.id, 'stop.endsAt': { $lt: stop.endsAt } }
      await change({ ...ofPlayer, ...earlier }, { $set: { stop } })
    },

    /** Takes a lifted stop from the sessions that it closed; they stay closed. */
    async forgetStop(scope: Scope, playerId: string, stopId: string): Promise<void> {
      await change({ scope: scopeKey(scope), playerId, 'stop.id': stopId }, { $unset: { stop: '' } })
    },

    /** Erases personal details of the player's sessions that ended by `endedBy`. @returns how many had any */
    async eraseDetails(scope: Scope, playerId: string, endedBy: Date): Promise<number> {
      const ended = { ...withDetails(scope, playerId), ...endedAt(endedBy) }
      // The documents come last: by them a repeat finds what is left after a crash.
      const found = await readToEnd(sessions.find(ended).project<{ _id: string }>({ _id: 1 }))
      await mapBounded(found, erasedAtOnce, ({ _id }) => eraseEntry(sessionStream(scope, _id)))
      return (await change(ended, { $set: { ...noDetails, metadata: [] } })).modifiedCount
    },

    /** Counts the player's sessions that have such details: those that ended by `endedBy`, and all. */
    async countDetails(scope: Scope, playerId: string, endedBy: Date) {
      const details = withDetails(scope, playerId)
      const [ended, all] = await Promise.all([
        sessions.countDocuments({ ...details, ...endedAt(endedBy) }),
        sessions.countDocuments(details),
      ])
      return { ended, all }
    },

    /** Marks the player's sessions that are not over: their stakes have to be counted. */
    async markLimited(scope: Scope, playerId: string, now: Date): Promise<void> {
      const open = { scope: scopeKey(scope), playerId, closedAt: null, expiresAt: { $gt: now } }
      await change({ ...open, limited: { $ne: true } }, { $set: { limited: true } })
    },

    /** The open times of the player's sessions since `from`; of more than 10,000 the newest. */
    timesOf: (scope: Scope, playerId: string, from: Date): Promise<SessionTimes[]> =>
      readToEnd(
        sessions
          .find(pageFilter(scope, { playerId }, { prefix: 'ses', from, earlyMs: idempotencyKeyLifetimeMs }))
          .project<SessionTimes>({ _id: 0, createdAt: 1, expiresAt: 1, closedAt: 1 })
          .sort({ _id: -1 })
          .limit(timesMax),
      ),

    /** Keeps that the player went on after a reality check. Null for an unknown or closed session. */
    keepRealityCheck: (scope: Scope, sessionId: string, now: Date) =>
      sessions.findOneAndUpdate(
        { _id: sessionId, scope: scopeKey(scope), closedAt: null },
        { $max: { realityCheckedAt: now }, $inc: { version: 1 } },
        { returnDocument: 'after' },
      ),

    async list(scope: Scope, filters: SessionFilters, { before, max, now }: PageBounds & { now: Date }) {
      const { playerId, status, from, to } = filters
      const window = { prefix: 'ses', from, to, before, earlyMs: idempotencyKeyLifetimeMs }
      const filter = { ...pageFilter(scope, { playerId }, window), ...statusFilter(scope, status, now) }
      const hint = playerId === undefined ? await indexFor(scope, status, now) : 'scope_player_id'
      return readToEnd(sessions.find(filter, { sort: { _id: -1 }, limit: max, hint }))
    },

    async currenciesInUse(operatorId: string, now: Date): Promise<string[]> {
      const found = await sessions
        .aggregate<{ _id: string }>([
          { $match: { operatorId, expiresAt: { $gt: now }, closedAt: null } },
          { $group: { _id: '$currency' } },
        ])
        .toArray()
      return found.map(({ _id }) => _id).toSorted()
    },
  }

  /** The one change of an entry: the details leave the session that it was opened with. */
  async function eraseEntry(stream: StreamKey): Promise<void> {
    const journal = db.collection<StoredDocument>('journal')
    const stored = await journal.findOne({ _id: entryId(stream, 1) })
    if (stored === null || !('z' in stored)) return
    const entry = entryOf<{ session: NewSession }>(stored)
    const f = entry.f.map(({ session }) => ({ session: { ...session, ...noDetails, metadata: [] } }))
    await journal.replaceOne({ _id: entry._id, w: entry.w }, storedOf({ ...entry, f }))
  }

  /** The index by which the sessions of a status are few or in their order. */
  async function indexFor(scope: Scope, status: SessionFilters['status'], now: Date): Promise<string> {
    if (status === 'CLOSED') return 'scope_closed'
    const { operatorId } = scope
    const open = { operatorId, expiresAt: { $gt: now } }
    const isFew = status === 'ACTIVE' && (await areFew(sessions, open, 'operator_expires'))
    return isFew ? 'operator_expires' : 'scope_id'
  }
}

/** The stream of a session: its one entry says with what it was opened. */
export function sessionStream({ operatorId, environment }: Scope, sessionId: string): StreamKey {
  return streamKey(operatorId, environment, 'session', sessionId)
}

export function stakeRangeOf({ limits }: Pick<SessionDocument, 'limits'>): StakeRange | null {
  if (limits === null) return null
  const minor = (text: string | null) => (text === null ? null : BigInt(text))
  return { minStake: minor(limits.minStake), maxStake: minor(limits.maxStake) }
}

const noDetails = { country: null, language: null, returnUrl: null }

function withDetails(scope: Scope, playerId: string): Filter<SessionDocument> {
  return { scope: scopeKey(scope), playerId, $nor: [{ ...noDetails, metadata: [] }] }
}

function endedAt(endedBy: Date): Filter<SessionDocument> {
  return { $or: [{ expiresAt: { $lte: endedBy } }, { closedAt: { $gt: epoch, $lte: endedBy } }] }
}

function statusFilter({ operatorId }: Scope, status: SessionFilters['status'], now: Date) {
  if (status === undefined) return {}
  if (status === 'CLOSED') return { closedAt: { $gt: epoch } }
  return { operatorId, closedAt: null, expiresAt: status === 'ACTIVE' ? { $gt: now } : { $lte: now } }
}
