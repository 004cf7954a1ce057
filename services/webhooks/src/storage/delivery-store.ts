import type { AuditEntry } from '@pitboss/contracts/audit'
import { type Scope, scopeOf } from '@pitboss/contracts/caller'
import { amongKeys } from '@pitboss/storage/among-keys'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { createInsertTogether } from '@pitboss/storage/journal/insert-together'
import type { Filter } from 'mongodb'
import { type Lane, lanes } from '../rules/choose-due.ts'
import type { Probe } from '../rules/endpoint-health.ts'
import { type Collections, type DeliveryDocument, type DueDelivery, keyOf, never } from './collections.ts'
import { createDeliveryClaims } from './delivery-claims.ts'
import { createDeliveryMoves } from './delivery-moves.ts'
import { type NewDelivery, newDocument, orderOf } from './new-delivery.ts'

/** Few go out with one command, one at a time, so that the database has room. Source: ours. */
const limits = { documentsMax: 32, commandsMax: 1 }
/** Of a delivery without attempts, about. */
const documentBytes = 1024
/** A worker knows at most so many waiting deliveries of a lane: twice what an endpoint may have in flight. */
export const upcomingMax = 128

/** The waiting deliveries of each lane in due order, and the lanes in which more wait. */
export type Upcoming = { lanes: Record<Lane, DueDelivery[]>; open: Set<Lane> }

const withoutAttempts = { attempts: 0 } as const

type Named = Pick<DeliveryDocument, 'webhookId' | 'status' | 'eventType' | 'eventId'>
/** @param before the `order` of the last delivery of the page before */
type Wanted = Named & { from: Date; to: Date; before: string }

/** What a list of deliveries is about. Everything for null or undefined. */
export type DeliveryFilter = { readonly [Field in keyof Wanted]?: Wanted[Field] | null | undefined }

const countedFields = ['operatorId', 'environment', 'webhookId', 'eventType', 'createdAt'] as const
const countedParts = ['attempt', 'sentAt', 'durationMs', 'httpStatus', 'storedAt'] as const
const attempted = [...countedFields, ...countedParts.map((part) => `attempts.${part}`)]
const attemptedFields = { _id: 0, ...Object.fromEntries(attempted.map((name) => [name, 1])) }
export type AttemptedDelivery = Pick<DeliveryDocument, (typeof countedFields)[number]> & {
  readonly attempts: readonly Pick<DeliveryDocument['attempts'][number], (typeof countedParts)[number]>[]
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

export function createDeliveryStore(collections: Pick<Collections, 'deliveries'>) {
  const { deliveries } = collections

  function firstDue(of: { webhookId: string; lane?: Lane }, limit: number): Promise<DueDelivery[]> {
    const hint = of.lane === undefined ? 'due' : 'lane_due'
    const first = { projection: withoutAttempts, sort: { dueAt: 1 }, hint, limit } as const
    return deliveries.find({ ...of, status: 'PENDING', dueAt: { $lt: never } }, first).toArray()
  }

  const insertTogether = createInsertTogether(deliveries, () => documentBytes, limits)

  return {
    ...createDeliveryClaims(collections),
    ...createDeliveryMoves(collections),

    async createOne(delivery: NewDelivery, audit: AuditEntry): Promise<void> {
      await deliveries.insertOne({ ...newDocument(delivery), ...auditedInsert(audit) })
    },

    /** Inserts those whose ids are not there yet, together with those of other callers. */
    async insertAbsent(documents: readonly DeliveryDocument[]): Promise<void> {
      const parts: Promise<unknown>[] = []
      for (let start = 0; start < documents.length; start += limits.documentsMax)
        parts.push(insertTogether(documents.slice(start, start + limits.documentsMax)))
      await Promise.all(parts)
    },

    /** Those of `wanted` that exist, with the fields that a replay needs. */
    async existing(wanted: readonly Pick<DeliveryDocument, '_id' | 'webhookId'>[]) {
      const among = amongKeys(wanted.map(keyOf))
      const projection = { status: 1, replayId: 1 }
      const found = wanted.length === 0 ? [] : await deliveries.find(among, { projection }).toArray()
      return new Map(found.map(({ _id, status, replayId }) => [_id, { _id, status, replayId }]))
    },

    /** Not in flight, due or not: all, or the first `limit` of each lane when one could hide another. */
    async upcoming(webhookId: string, limit: number): Promise<Upcoming> {
      const first = await firstDue({ webhookId }, limit)
      const isAll = first.length < limit
      const of = async (lane: Lane) =>
        isAll ? first.filter((one) => one.lane === lane) : firstDue({ webhookId, lane }, limit)
      const reads = [of('fresh'), of('retry'), of('replay'), of('manual')] as const
      const [fresh, retry, replay, manual] = await Promise.all(reads)
      const found = { fresh, retry, replay, manual }
      return { lanes: found, open: new Set(isAll ? [] : lanes.filter((lane) => found[lane].length >= limit)) }
    },

    /** The probe of the breaker: the oldest, or that of the type whose turn it is which waits longest. */
    async probe(webhookId: string, which: Probe, now: Date): Promise<DueDelivery | null> {
      const due = { webhookId, status: 'PENDING', lane: { $ne: 'manual' }, dueAt: { $lte: now } } as const
      const projection = withoutAttempts
      const oldest = () => deliveries.findOne(due, { sort: { order: 1 }, hint: 'oldest', projection })
      if (which === 'oldest') return oldest()
      const sort = { dueAt: 1 } as const
      const first = (filter: Filter<DeliveryDocument>, hint: string) =>
        deliveries.findOne({ ...due, ...filter }, { sort, hint, projection })
      const firstOf = async (types: Filter<DeliveryDocument>) =>
        (await first({ lane: 'fresh', ...types }, 'lane_due')) ?? first(types, 'due')
      const { afterTypes } = which
      let found = await firstOf(afterTypes.length === 0 ? {} : { eventType: { $nin: [...afterTypes] } })
      if (found === null && afterTypes.length === 1) return oldest()
      for (const eventType of afterTypes) found ??= await firstOf({ eventType })
      return found
    },

    async inFlight(webhookId: string): Promise<{ all: number; replay: number }> {
      const few = { projection: { lane: 1 }, hint: 'claimed', limit: 64 }
      const found = await deliveries.find({ webhookId, claimToken: { $gt: 0 } }, few).toArray()
      return { all: found.length, replay: found.filter(({ lane }) => lane === 'replay').length }
    },

    firstDueAt: async (webhookId: string): Promise<Date | null> =>
      (await firstDue({ webhookId }, 1))[0]?.dueAt ?? null,

    find: (scope: Scope, id: string) => deliveries.findOne({ _id: id, ...scopeOf(scope) }),
    read: (id: string) => deliveries.findOne({ _id: id }),

    /** Newest first, of every account for null. */
    list(scope: Scope | null, filter: DeliveryFilter, limit: number) {
      const hint = scope === null ? null : indexOf(filter)
      const wanted = { ...listFilter(filter), ...(scope === null ? {} : scopeOf(scope)) }
      const page = { sort: { order: -1 }, limit, ...(hint === null ? {} : { hint }) } as const
      return deliveries.find(wanted, page).toArray()
    },

    ofEvents(scope: Scope, eventIds: readonly string[], limit: number) {
      const wanted = { eventId: { $in: [...eventIds] }, ...scopeOf(scope) }
      return deliveries.find(wanted, { sort: { order: 1 }, hint: 'event', limit }).toArray()
    },

    /** Counts that stop at `max`, with the oldest pending delivery; `failed` of those created at `since`. */
    async health({ operatorId, environment }: Scope, since: Date, max: number) {
      const hint = 'list_status'
      const of = (status: DeliveryDocument['status']) => ({ status, operatorId, environment })
      const count = (filter: Filter<DeliveryDocument>) =>
        deliveries.countDocuments(filter, { limit: max, hint })
      const oldest = { sort: { order: 1 }, hint, projection: { createdAt: 1 } } as const
      const [pending, held, failed, waiting, delivered] = await Promise.all([
        ...([count(of('PENDING')), count(of('HELD'))] as const),
        count({ ...of('FAILED'), order: { $gte: orderOf(since, '') } }),
        deliveries.findOne(of('PENDING'), oldest),
        deliveries.findOne(of('DELIVERED'), oldest),
      ])
      const oldestPendingAt = waiting?.createdAt ?? null
      return { pending, held, failed, oldestPendingAt, hasDelivered: delivered !== null }
    },

    attemptedSince(from: Date) {
      const found = deliveries.find({ attemptedAt: { $gte: from } }, { hint: 'attempted' })
      return found.sort({ attemptedAt: 1 }).project<AttemptedDelivery>(attemptedFields)
    },

    countHeld: (webhookId: string, max: number): Promise<number> =>
      deliveries.countDocuments({ webhookId, status: 'HELD' }, { limit: max, hint: 'held' }),

    async statusCounts(): Promise<{ pending: number; held: number }> {
      const counts = (['PENDING', 'HELD'] as const).map((status) => deliveries.countDocuments({ status }))
      const [pending = 0, held = 0] = await Promise.all(counts)
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
function listFilter({ from = null, to = null, before = null, ...fields }: DeliveryFilter) {
  const below = before ?? (to === null ? null : orderOf(new Date(to.getTime() + 1), ''))
  const since = from === null ? {} : { $gte: orderOf(from, '') }
  const order = { ...since, ...(below === null ? {} : { $lt: below }) }
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)))
  return { ...given, ...(from === null && below === null ? {} : { order }) }
}

const isGiven = (value: unknown) => value !== null && value !== undefined
