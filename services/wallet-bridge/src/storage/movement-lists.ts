import type { Scope } from '@pitboss/contracts/caller'
import type { Filter } from 'mongodb'
import type { MovementStatus, MovementType } from '../domain/movement.ts'
import { type MovementDocument, walletKeyOf } from './movement-document.ts'
import type { Movements } from './movements.ts'
import { referenceBefore } from './reference-bound.ts'

export type MovementFilters = {
  readonly playerId?: string | undefined
  readonly roundId?: string | undefined
  readonly sessionId?: string | undefined
  readonly type?: MovementType | undefined
  readonly status?: MovementStatus | undefined
  /** Both ends are inclusive. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

export type MovementLists = {
  /** Newest first, from below `before`. */
  newestFirst(
    scope: Scope,
    filters: MovementFilters,
    page: { before: string | null; limit: number },
  ): Promise<MovementDocument[]>
  /** Oldest first within a window, from above `after`. */
  oldestFirst(
    scope: Scope,
    window: { from: Date; to: Date },
    page: { after: string | null; limit: number },
  ): Promise<MovementDocument[]>
  byTransactionIds(scope: Scope, transactionIds: readonly string[]): Promise<MovementDocument[]>
  /** Over all operators, oldest first. */
  overall(filters: {
    status: MovementStatus | null
    createdBefore: Date | null
    limit: number
  }): Promise<MovementDocument[]>
  /** Of whatever operator, by `txn_…` or by transaction id, in the named wallets. */
  byReference(reference: string, walletKeys: readonly string[]): Promise<MovementDocument | null>
  ofRound(roundId: string, limit: number): Promise<MovementDocument[]>
}

export function createMovementLists({ collection }: Movements): MovementLists {
  return {
    newestFirst(scope, { from, to, ...filters }, { before, limit }) {
      const filter: Filter<MovementDocument> = {
        walletKey: walletKeyOf(scope),
        ...withoutUndefined(filters),
        ...within(from, to, { before, after: null }),
      }
      return collection.find(filter).sort({ reference: -1 }).limit(limit).toArray()
    },
    oldestFirst(scope, { from, to }, { after, limit }) {
      const filter: Filter<MovementDocument> = {
        walletKey: walletKeyOf(scope),
        ...within(from, to, { before: null, after }),
      }
      return collection.find(filter).sort({ reference: 1 }).limit(limit).toArray()
    },
    byTransactionIds(scope, transactionIds) {
      const ids = transactionIds.map((id) => `${walletKeyOf(scope)}/${id}`)
      return collection.find({ _id: { $in: ids } }).toArray()
    },
    overall({ status, createdBefore, limit }) {
      const filter: Filter<MovementDocument> = {
        ...(status === null ? {} : { status }),
        ...(createdBefore === null ? {} : { createdAt: { $lte: createdBefore } }),
      }
      return collection.find(filter).sort({ reference: 1 }).limit(limit).toArray()
    },
    async byReference(reference, walletKeys) {
      if (/^txn_/.test(reference)) {
        const found = await collection.findOne({ walletKey: { $in: [...walletKeys] }, reference })
        if (found !== null) return found
      }
      return collection.findOne({ _id: { $in: walletKeys.map((key) => `${key}/${reference}`) } })
    },
    ofRound: (roundId, limit) => collection.find({ roundId }).sort({ reference: 1 }).limit(limit).toArray(),
  }
}

/** The window on `createdAt`, and on the time-ordered reference too, so that the index on it does the work. */
function within(
  from: Date | undefined,
  to: Date | undefined,
  { before, after }: { before: string | null; after: string | null },
): Filter<MovementDocument> {
  const lowest = [after, from === undefined ? null : referenceBefore(from)].filter((text) => text !== null)
  const highest = [before, to === undefined ? null : referenceBefore(new Date(to.getTime() + 1), true)]
    .filter((text) => text !== null)
    .toSorted()
  const above = lowest.toSorted().at(-1)
  const below = highest[0]
  return {
    ...(above === undefined && below === undefined
      ? {}
      : {
          reference: {
            ...(above === undefined ? {} : { $gt: above }),
            ...(below === undefined ? {} : { $lt: below }),
          },
        }),
    ...(from === undefined && to === undefined
      ? {}
      : {
          createdAt: {
            ...(from === undefined ? {} : { $gte: from }),
            ...(to === undefined ? {} : { $lte: to }),
          },
        }),
  }
}

function withoutUndefined(filters: Omit<MovementFilters, 'from' | 'to'>): Filter<MovementDocument> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}
