import type { AuditEntry } from '@pitboss/contracts/audit'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { FreeBet } from '@pitboss/contracts/objects/game'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { readToEnd } from '@pitboss/storage/bounded-read'
import { createOnce } from '@pitboss/storage/create-once'
import { type IndexDeclaration, partialIndex } from '@pitboss/storage/ensure-indexes'
import { idempotencyKeyLifetimeMs } from '@pitboss/storage/idempotency-keys'
import type { Db } from 'mongodb'
import { type Filters, type PageBounds, pageFilter } from './round-document.ts'

const openGrantsMax = 200
/** Bound of `closedTo`: rounds of a player and game follow each other. */
const closedToMax = 100

/** A number of free bets of one stake. `uses` names the rounds that took one: at most `count` of them. */
export type GrantDocument = WithAudit & {
  _id: string
  scope: string
  environment: 'SANDBOX' | 'LIVE'
  playerId: string
  game: string
  currency: string
  /** Minor units as text. */
  stake: string
  count: number
  remaining: number
  /** The operator's own name of the grant, once in account and environment. Absent without one. */
  reference?: string
  uses: string[]
  /** The last rounds that were refused one, or gave theirs back: they never get one. Absent while empty. */
  closedTo?: string[]
  createdAt: Date
  /** Far in the future for a grant that never expires. */
  endsAt: Date
  expiresAt: Date | null
  cancelledAt: Date | null
}

export type GrantFilters = Filters<'playerId' | 'game'> & { readonly status?: FreeBet['status'] | undefined }

export const grantIndexes: readonly IndexDeclaration[] = [
  { key: { scope: 1, _id: -1 }, name: 'scope_id' },
  { key: { scope: 1, playerId: 1, game: 1, _id: 1 }, name: 'scope_player_game' },
  {
    ...partialIndex('scope_reference', { scope: 1, reference: 1 }, { reference: { $gt: '' } }),
    unique: true,
  },
  auditOutboxIndex,
]

export type GrantsStore = ReturnType<typeof createGrantsStore>

export function createGrantsStore({ db }: { db: Db }) {
  const grants = db.collection<GrantDocument>('grants')
  const usable = (now: Date) => ({ remaining: { $gt: 0 }, cancelledAt: null, endsAt: { $gt: now } })

  return {
    /** Inserts the grant, or answers the one that has this id, or this reference, already. */
    async insert(grant: GrantDocument): Promise<GrantDocument> {
      const { _id, scope, reference } = grant
      const { result } = await createOnce({
        document: grant,
        insert: () => grants.insertOne(grant),
        find: async () =>
          (await grants.findOne({ _id, scope })) ??
          (reference === undefined ? null : await grants.findOne({ scope, reference })),
        name: `grant ${_id}`,
      })
      return result
    },

    findReferenced: (scope: Scope, reference: string) =>
      grants.findOne({ scope: scopeKey(scope), reference }),

    find: (scope: Scope, grantId: string) => grants.findOne({ _id: grantId, scope: scopeKey(scope) }),

    /** The grants that a player can use now, oldest first. */
    open: (scope: Scope, player: { playerId: string; game: string; currency: string }, now: Date) =>
      grants
        .find(
          { scope: scopeKey(scope), ...player, ...usable(now) },
          { projection: { uses: 0 }, sort: { _id: 1 }, limit: openGrantsMax },
        )
        .toArray(),

    /** Takes one free bet for this round; false when none is left. Repeats have the same answer. */
    async use(scope: Scope, grantId: string, roundId: string, now: Date): Promise<boolean> {
      const grant = { _id: grantId, scope: scopeKey(scope) }
      const undecided = { ...grant, uses: { $ne: roundId }, closedTo: { $ne: roundId } }
      const { matchedCount: used } = await grants.updateOne(
        { ...undecided, ...usable(now) },
        { $inc: { remaining: -1 }, $push: { uses: roundId } },
      )
      if (used === 1) return true
      await grants.updateOne(undecided, closeTo(roundId))
      return (await grants.countDocuments({ ...grant, uses: roundId })) > 0
    },

    /** Gives back the free bet of a round that ended without a play. Repeating it changes nothing. */
    async giveBack(scope: Scope, grantId: string, roundId: string): Promise<void> {
      await grants.updateOne(
        { _id: grantId, scope: scopeKey(scope), uses: roundId },
        { $inc: { remaining: 1 }, $pull: { uses: roundId }, ...closeTo(roundId) },
      )
    },

    cancel: (scope: Scope, grantId: string, now: Date, audit: AuditEntry | null = null) =>
      grants.findOneAndUpdate(
        { _id: grantId, scope: scopeKey(scope), ...usable(now) },
        auditedUpdate<GrantDocument>({ $set: { cancelledAt: now } }, audit),
        { returnDocument: 'after' },
      ),

    async list(scope: Scope, filters: GrantFilters, { before, max, now }: PageBounds & { now: Date }) {
      const { playerId, game, status, from, to } = filters
      const window = { prefix: 'frb', from, to, before, earlyMs: idempotencyKeyLifetimeMs }
      const filter = { ...pageFilter(scope, { playerId, game }, window), ...statusFilter(status, now) }
      return readToEnd(grants.find(filter, { sort: { _id: -1 }, limit: max }))
    },
  }
}

function closeTo(roundId: string) {
  return { $push: { closedTo: { $each: [roundId], $slice: -closedToMax } } }
}

function statusFilter(status: GrantFilters['status'], now: Date) {
  const left = { cancelledAt: null, remaining: { $gt: 0 } }
  const filters = {
    CANCELLED: { cancelledAt: { $gt: new Date(0) } },
    EXHAUSTED: { cancelledAt: null, remaining: { $lte: 0 } },
    EXPIRED: { ...left, endsAt: { $lte: now } },
    ACTIVE: { ...left, endsAt: { $gt: now } },
  }
  return status === undefined ? {} : filters[status]
}
