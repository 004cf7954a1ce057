import type { Scope } from '@pitboss/contracts/caller'
import type { Filter, WithId } from 'mongodb'
import type { Collections } from './collections.ts'
import { createDeliveryClaims } from './delivery-claims.ts'
import { createDeliveryMoves } from './delivery-moves.ts'
import { createDeliveryQueue } from './delivery-queue.ts'
import type { DeliveryDocument } from './documents.ts'

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

/** The delivery ledger, which is also the retry clock. */
export function createDeliveryStore(collections: Pick<Collections, 'deliveries'>) {
  const { deliveries } = collections
  const newestFirst = (filter: Filter<DeliveryDocument>, limit: number) =>
    deliveries.find(filter).sort({ order: -1 }).limit(limit).toArray()
  return {
    ...createDeliveryQueue(collections),
    ...createDeliveryClaims(collections),
    ...createDeliveryMoves(collections),

    find: (scope: Scope, id: string): Promise<WithId<DeliveryDocument> | null> =>
      deliveries.findOne({ _id: id, operatorId: scope.operatorId, environment: scope.environment }),

    /** For operations: whoever it belongs to. */
    read: (id: string): Promise<WithId<DeliveryDocument> | null> => deliveries.findOne({ _id: id }),

    /** Newest first. */
    list: (
      { operatorId, environment }: Scope,
      filter: Filter<DeliveryDocument>,
      limit: number,
    ): Promise<WithId<DeliveryDocument>[]> => newestFirst({ ...filter, operatorId, environment }, limit),

    /** For operations: as `list`, of every account. */
    listAnywhere: newestFirst,

    async statusCounts(): Promise<{ pending: number; held: number }> {
      const [pending, held] = await Promise.all([
        deliveries.countDocuments({ status: 'PENDING' }),
        deliveries.countDocuments({ status: 'HELD' }),
      ])
      return { pending, held }
    },
  }
}
