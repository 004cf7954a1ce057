import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { boundedRead } from '@pitboss/storage/bounded-read'
import { createdFilter, definedOf } from '@pitboss/storage/created-within'
import type { Collection, Filter, FindOptions } from 'mongodb'
import { movementIdOf } from '../rules/movement-keys.ts'
import type { MovementStatus, MovementType } from '../rules/movement.ts'
import { type StoredMovement, fromListed } from './listed-movements.ts'
import type { AttemptRecord, MovementDocument } from './movement-document.ts'

/** Bounds the work of one page at the database, in milliseconds, and what to ask instead. */
export const listMsMax = 5000
export const tooLong = { message: 'The list takes too long; name a player, or a window by "from" and "to".' }

type IdFilters = Readonly<Partial<Record<'playerId' | 'roundId' | 'sessionId', string | undefined>>>

export type MovementFilters = IdFilters & {
  readonly type?: MovementType | undefined
  readonly status?: MovementStatus | undefined
  /** Both ends are inclusive. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

export type CalledMovement = Pick<MovementDocument, 'operatorId' | 'environment'> & {
  readonly attempts: readonly Pick<AttemptRecord, 'operation' | 'classification' | 'latencyMs' | 'storedAt'>[]
}

type Before = { readonly before: string | null; readonly limit: number }
type After = { readonly after: string | null; readonly limit: number }

export type PendingFigures = {
  readonly all: number
  /** A rollback of a refused stake, which holds up nobody, counts after 15 minutes. */
  readonly over5m: number
  readonly over1h: number
  readonly over24h: number
  readonly oldest: Pick<MovementDocument, 'reference' | 'createdAt' | 'operatorId'> | null
}

const minuteMs = 60_000
/** When a rollback of a refused stake is alarmed. Source: docs/contract.md, section 5. */
const ofRefusedAlarmMs = 15 * minuteMs
const countMax = 100_000

export type MovementLists = ReturnType<typeof createMovementLists>

export function createMovementLists({ collection }: { readonly collection: Collection<StoredMovement> }) {
  /** Oldest first. */
  const page = (filter: Filter<StoredMovement>, limit: number, options: FindOptions = {}) =>
    collection.find(filter, options).sort({ reference: 1 }).limit(limit).map(fromListed).toArray()
  const count = (older: Filter<StoredMovement>) =>
    collection.countDocuments({ status: 'PENDING', ...older }, { limit: countMax, hint: 'pending' })
  const countOlder = (now: Date, olderThanMs: number) => {
    const before = (ms: number) => ({ createdAt: { $lte: new Date(now.getTime() - ms) } })
    const quiet = before(Math.max(olderThanMs, ofRefusedAlarmMs))
    return count({ ...before(olderThanMs), $or: [{ ofRefused: { $exists: false } }, quiet] })
  }
  const oldestOf = (filter: Filter<StoredMovement>, hint: string) =>
    collection.find(filter, { hint }).sort({ reference: 1 }).limit(1).map(fromListed).next()

  return {
    /** Newest first, from the one before `before` on. */
    newestFirst(scope: Scope, { from, to, ...filters }: MovementFilters, { before, limit }: Before) {
      const asked = { ...definedOf(filters), ...within({ from, to }, { before }) }
      const filter: Filter<StoredMovement> = { walletKey: scopeKey(scope), ...asked }
      const found = collection.find(filter).sort({ reference: -1 }).limit(limit).maxTimeMS(listMsMax)
      const index = indexOf(filters)
      const shown = (index === null ? found : found.hint(index)).map(fromListed)
      return boundedRead(() => shown.toArray(), tooLong)
    },
    /** Oldest first within a window, from the one after `after` on. */
    oldestFirst: (scope: Scope, window: { from: Date; to: Date }, { after, limit }: After) =>
      page({ walletKey: scopeKey(scope), ...within(window, { after }) }, limit),
    /** Pending stakes that rounds does not know, oldest first, after the one that is named. */
    inDoubt(scope: Scope, { after, limit }: After) {
      const later = after === null ? {} : { reference: { $gt: after } }
      const inDoubt = { status: 'PENDING', inDoubt: true, reversal: null } as const
      return page({ walletKey: scopeKey(scope), ...inDoubt, ...later }, limit, { hint: 'rare_status' })
    },
    byTransactionIds(scope: Scope, transactionIds: readonly string[]) {
      const ids = transactionIds.map((id) => movementIdOf(scope, id))
      return collection
        .find({ _id: { $in: ids } })
        .map(fromListed)
        .toArray()
    },
    /** Over all operators, oldest first. */
    overall(status: MovementStatus | null, createdBefore: Date | null, limit: number) {
      const older = createdBefore === null ? {} : { createdAt: { $lte: createdBefore } }
      const filter = { ...(status === null ? {} : { status }), ...older }
      return page(filter, limit, status === 'PENDING' ? { hint: 'pending' } : {})
    },
    /** Finds a movement of the named wallets by `txn_…` or by transaction id. */
    async byReference(reference: string, walletKeys: readonly string[]): Promise<MovementDocument | null> {
      if (/^txn_/.test(reference)) {
        const found = await collection.findOne({ walletKey: { $in: [...walletKeys] }, reference })
        if (found !== null) return fromListed(found)
      }
      const named = await collection.findOne({ _id: { $in: walletKeys.map((key) => `${key}/${reference}`) } })
      return named === null ? null : fromListed(named)
    },
    ofRound: (roundId: string, limit: number) => page({ roundId }, limit),
    /** The movements of every account with a wallet call that was stored at `from` or later. */
    calledSince: (from: Date): AsyncIterable<CalledMovement> =>
      collection
        .find({ attemptedAt: { $gte: from } }, { sort: { attemptedAt: 1 }, hint: 'attempted' })
        .map(fromListed),
    /** Each figure counts up to 100,000. */
    async figures(now: Date): Promise<PendingFigures> {
      const oldest = await oldestOf({ status: 'PENDING' }, 'pending')
      if (oldest === null) return { all: 0, over5m: 0, over1h: 0, over24h: 0, oldest: null }
      const all = await count({})
      const ageMs = now.getTime() - oldest.createdAt.getTime()
      const over5m = ageMs < 5 * minuteMs ? 0 : await countOlder(now, 5 * minuteMs)
      const over1h = over5m === 0 ? 0 : await countOlder(now, 60 * minuteMs)
      const over24h = over1h === 0 ? 0 : await countOlder(now, 24 * 60 * minuteMs)
      return { all, over5m, over1h, over24h, oldest }
    },
    /** Movements of a wallet that are not resolved, their reversals included; up to `max`. */
    async unresolved(scope: Scope, max = countMax): Promise<number> {
      const walletKey = scopeKey(scope)
      const pending = { walletKey, status: 'PENDING' } as const
      const reversed = { walletKey, open: true, status: { $ne: 'PENDING' } } as const
      const counts = await Promise.all([
        collection.countDocuments(pending, { limit: max, hint: 'rare_status' }),
        collection.countDocuments(reversed, { limit: max, hint: 'open' }),
      ])
      return Math.min(counts[0] + counts[1], max)
    },
    oldestOf: (scope: Scope) => oldestOf({ walletKey: scopeKey(scope), status: 'PENDING' }, 'rare_status'),
  }
}

/** The index for lists that ask for few of very many; the database takes it only by name. Null for others. */
function indexOf({ status, type, playerId, roundId, sessionId }: MovementFilters): string | null {
  if (roundId !== undefined) return 'round'
  if (sessionId !== undefined) return 'session'
  if (playerId !== undefined) return null
  if (status !== undefined && status !== 'SUCCESS') return 'rare_status'
  return type === 'REFUND' || type === 'ROLLBACK' ? 'rare_type' : null
}

type Bounds = { readonly before?: string | null; readonly after?: string | null }

/** The condition on time and reference, which is the order of every list here. */
const within = (window: Pick<MovementFilters, 'from' | 'to'>, bounds: Bounds) =>
  createdFilter({ prefix: 'txn', ...window, ...bounds }, 'reference')
