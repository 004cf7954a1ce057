import type { Scope } from '@pitboss/contracts/caller'
import type { Filter, WithId } from 'mongodb'
import type { Collections, DeliveryDocument } from './collections.ts'
import { createDeliveryClaims } from './delivery-claims.ts'
import { createDeliveryMoves } from './delivery-moves.ts'
import { createDeliveryQueue, orderOf } from './delivery-queue.ts'

/** What a list of deliveries is about. Everything for null or undefined. */
export type DeliveryFilter = {
  readonly webhookId?: string | null | undefined
  readonly status?: DeliveryDocument['status'] | null | undefined
  readonly eventType?: DeliveryDocument['eventType'] | null | undefined
  readonly eventId?: string | null | undefined
  /** Created at this time or later. */
  readonly from?: Date | null
  /** Created at this time or earlier. */
  readonly to?: Date | null
  /** The `order` of the last delivery of the page before. */
  readonly before?: string | null
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

/**
 * All deliveries with the state of their schedules: the ledger of what was sent, and the queue of what is
 * due.
 */
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

    /** For operations: a delivery of any account. */
    read: (id: string): Promise<WithId<DeliveryDocument> | null> => deliveries.findOne({ _id: id }),

    /** Newest first. */
    list: (
      { operatorId, environment }: Scope,
      filter: DeliveryFilter,
      limit: number,
    ): Promise<WithId<DeliveryDocument>[]> =>
      newestFirst({ ...listFilter(filter), operatorId, environment }, limit),

    /** For operations: `list`, of every account. */
    listAnywhere: (filter: DeliveryFilter, limit: number): Promise<WithId<DeliveryDocument>[]> =>
      newestFirst(listFilter(filter), limit),

    async statusCounts(): Promise<{ pending: number; held: number }> {
      const [pending, held] = await Promise.all([
        deliveries.countDocuments({ status: 'PENDING' }),
        deliveries.countDocuments({ status: 'HELD' }),
      ])
      return { pending, held }
    },
  }
}

/** The window of creation times becomes a range of the one text that orders deliveries. */
function listFilter({
  webhookId = null,
  status = null,
  eventType = null,
  eventId = null,
  from = null,
  to = null,
  before = null,
}: DeliveryFilter): Filter<DeliveryDocument> {
  const end = to === null ? null : orderOf(new Date(to.getTime() + 1), '')
  const below = before ?? end
  const order = {
    ...(from === null ? {} : { $gte: orderOf(from, '') }),
    ...(below === null ? {} : { $lt: below }),
  }
  return {
    ...(webhookId === null ? {} : { webhookId }),
    ...(status === null ? {} : { status }),
    ...(eventType === null ? {} : { eventType }),
    ...(eventId === null ? {} : { eventId }),
    ...(from === null && below === null ? {} : { order }),
  }
}
