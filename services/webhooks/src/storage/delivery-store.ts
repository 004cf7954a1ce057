import type { Scope } from '@pitboss/contracts/caller'
import type { Filter, WithId } from 'mongodb'
import { type AttemptRecord, type Collections, type DeliveryDocument, scopeFields } from './collections.ts'
import { createDeliveryClaims } from './delivery-claims.ts'
import { createDeliveryMoves } from './delivery-moves.ts'
import { createDeliveryQueue } from './delivery-queue.ts'
import { orderOf } from './new-delivery.ts'

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

export type AttemptedDelivery = Pick<
  DeliveryDocument,
  'operatorId' | 'environment' | 'webhookId' | 'eventType' | 'createdAt'
> & {
  readonly attempts: readonly Pick<
    AttemptRecord,
    'attempt' | 'sentAt' | 'durationMs' | 'httpStatus' | 'storedAt'
  >[]
}
const attemptedFields = {
  ...{ _id: 0, operatorId: 1, environment: 1, webhookId: 1, eventType: 1, createdAt: 1 },
  'attempts.attempt': 1,
  'attempts.sentAt': 1,
  'attempts.durationMs': 1,
  'attempts.httpStatus': 1,
  'attempts.storedAt': 1,
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

/** All deliveries with their schedules: the ledger of what was sent, and the queue of what is due. */
export function createDeliveryStore(collections: Pick<Collections, 'deliveries'>) {
  const { deliveries } = collections

  return {
    ...createDeliveryQueue(collections),
    ...createDeliveryClaims(collections),
    ...createDeliveryMoves(collections),

    find: (scope: Scope, id: string): Promise<WithId<DeliveryDocument> | null> =>
      deliveries.findOne({ _id: id, ...scopeFields(scope) }),

    /** For operations: a delivery of any account. */
    read: (id: string): Promise<WithId<DeliveryDocument> | null> => deliveries.findOne({ _id: id }),

    /** Newest first, of every account for null. */
    list: (
      scope: Scope | null,
      filter: DeliveryFilter,
      limit: number,
    ): Promise<WithId<DeliveryDocument>[]> => {
      const hint = scope === null ? null : indexOf(filter)
      return deliveries
        .find(
          { ...listFilter(filter), ...(scope === null ? {} : scopeFields(scope)) },
          { sort: { order: -1 }, limit, ...(hint === null ? {} : { hint }) },
        )
        .toArray()
    },

    /** The deliveries of these events, oldest first. */
    ofEvents: (
      { operatorId, environment }: Scope,
      eventIds: readonly string[],
      limit: number,
    ): Promise<WithId<DeliveryDocument>[]> =>
      deliveries
        .find({ eventId: { $in: [...eventIds] }, operatorId, environment })
        .sort({ order: 1 })
        .hint('event')
        .limit(limit)
        .toArray(),

    /** Counts that stop at `max`, with the oldest pending delivery; `failed` of those created at `since`. */
    async health({ operatorId, environment }: Scope, since: Date, max: number) {
      const hint = 'list_status'
      const of = (status: DeliveryDocument['status']) => ({ status, operatorId, environment })
      const count = (filter: Filter<DeliveryDocument>) =>
        deliveries.countDocuments(filter, { limit: max, hint })
      const first = (status: DeliveryDocument['status']) =>
        deliveries.findOne(of(status), { sort: { order: 1 }, hint, projection: { createdAt: 1 } })
      const [pending, held, failed, oldest, delivered] = await Promise.all([
        count(of('PENDING')),
        count(of('HELD')),
        count({ ...of('FAILED'), order: { $gte: orderOf(since, '') } }),
        first('PENDING'),
        first('DELIVERED'),
      ])
      const oldestPendingAt = oldest?.createdAt ?? null
      return { pending, held, failed, oldestPendingAt, hasDelivered: delivered !== null }
    },

    /** The deliveries of every account with an attempt that was stored at `from` or later. */
    attemptedSince: (from: Date) =>
      deliveries
        .find({ attemptedAt: { $gte: from } })
        .project<AttemptedDelivery>(attemptedFields)
        .sort({ attemptedAt: 1 })
        .hint('attempted'),

    /** Deliveries that a pause of the endpoint holds, counted up to `max`. */
    countHeld: (webhookId: string, max: number): Promise<number> =>
      deliveries.countDocuments({ webhookId, status: 'HELD' }, { limit: max, hint: 'held' }),

    async statusCounts(): Promise<{ pending: number; held: number }> {
      const [pending, held] = await Promise.all([
        deliveries.countDocuments({ status: 'PENDING' }),
        deliveries.countDocuments({ status: 'HELD' }),
      ])
      return { pending, held }
    },
  }
}

/** The index of a list that asks for few of many; the database takes it only by name. Null for others. */
function indexOf({ eventId, status, eventType, webhookId }: DeliveryFilter): string | null {
  if (isGiven(eventId)) return 'event'
  if (isGiven(status) && status !== 'DELIVERED') return 'list_status'
  if (eventType === 'transaction.failed' || eventType === 'transaction.rollback') return 'list_rare_type'
  if (eventType === 'webhook.test') return 'list_test'
  return isGiven(webhookId) ? 'list_webhook' : null
}

/** The window of creation times becomes a range of the one text that orders deliveries. */
function listFilter({
  from = null,
  to = null,
  before = null,
  ...fields
}: DeliveryFilter): Filter<DeliveryDocument> {
  const below = before ?? (to === null ? null : orderOf(new Date(to.getTime() + 1), ''))
  const order = {
    ...(from === null ? {} : { $gte: orderOf(from, '') }),
    ...(below === null ? {} : { $lt: below }),
  }
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value))),
    ...(from === null && below === null ? {} : { order }),
  }
}

const isGiven = (value: unknown) => value !== null && value !== undefined
