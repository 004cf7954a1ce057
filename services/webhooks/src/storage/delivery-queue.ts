import type { AuditEntry } from '@pitboss/contracts/audit'
import { amongKeys } from '@pitboss/storage/among-keys'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { createInsertTogether } from '@pitboss/storage/journal/insert-together'
import type { Filter } from 'mongodb'
import { type Lane, lanes } from '../rules/choose-due.ts'
import type { Probe } from '../rules/endpoint-health.ts'
import { type Collections, type DeliveryDocument, type DueDelivery, keyOf, never } from './collections.ts'
import { type NewDelivery, newDocument } from './new-delivery.ts'

/** Few go out with one command, one at a time, so that the database has room. Source: ours. */
const limits = { documentsMax: 32, commandsMax: 1 }
/** Of a delivery without attempts, about. */
const documentBytes = 1024
/** A worker knows at most so many waiting deliveries of a lane: twice what an endpoint may have in flight. */
export const upcomingMax = 128

/** The waiting deliveries of each lane in due order, and the lanes in which more wait. */
export type Upcoming = { lanes: Record<Lane, DueDelivery[]>; open: Set<Lane> }

const withoutAttempts = { attempts: 0 } as const

export function createDeliveryQueue({ deliveries }: Pick<Collections, 'deliveries'>) {
  const firstDue = (filter: { webhookId: string; lane?: Lane }, limit: number): Promise<DueDelivery[]> =>
    deliveries
      .find({ ...filter, status: 'PENDING', dueAt: { $lt: never } }, { projection: withoutAttempts })
      .sort({ dueAt: 1 })
      .hint(filter.lane === undefined ? 'due' : 'lane_due')
      .limit(limit)
      .toArray()

  const insertTogether = createInsertTogether(deliveries, () => documentBytes, limits)

  return {
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
    async existing(
      wanted: readonly Pick<DeliveryDocument, '_id' | 'webhookId'>[],
    ): Promise<Map<string, Pick<DeliveryDocument, '_id' | 'status' | 'replayId'>>> {
      if (wanted.length === 0) return new Map()
      const found = await deliveries
        .find(amongKeys(wanted.map(keyOf)), { projection: { status: 1, replayId: 1 } })
        .toArray()
      return new Map(found.map((delivery) => [delivery._id, delivery]))
    },

    /**
     * Pending and not in flight, due or not: all, or the first of each lane when one could hide another.
     * @param limit of the answer, and of each lane
     */
    async upcoming(webhookId: string, limit: number): Promise<Upcoming> {
      const first = await firstDue({ webhookId }, limit)
      const isAll = first.length < limit
      const of = async (lane: Lane) =>
        isAll ? first.filter((one) => one.lane === lane) : firstDue({ webhookId, lane }, limit)
      const [fresh, retry, replay, manual] = await Promise.all([
        ...([of('fresh'), of('retry'), of('replay'), of('manual')] as const),
      ])
      const found = { fresh, retry, replay, manual }
      return { lanes: found, open: new Set(isAll ? [] : lanes.filter((lane) => found[lane].length >= limit)) }
    },

    /**
     * The due delivery with which the breaker probes: the oldest by creation, or of the type whose turn it is
     * the one that has waited longest for its first attempt, else for any.
     */
    async probe(webhookId: string, which: Probe, now: Date): Promise<DueDelivery | null> {
      const due = { webhookId, status: 'PENDING', lane: { $ne: 'manual' }, dueAt: { $lte: now } } as const
      const projection = withoutAttempts
      const oldest = () => deliveries.findOne(due, { sort: { order: 1 }, hint: 'oldest', projection })
      if (which === 'oldest') return oldest()
      const sort = { dueAt: 1 } as const
      const firstOf = async (types: Filter<DeliveryDocument>) =>
        (await deliveries.findOne(
          { ...due, lane: 'fresh', ...types },
          { sort, hint: 'lane_due', projection },
        )) ?? deliveries.findOne({ ...due, ...types }, { sort, hint: 'due', projection })
      const { afterTypes } = which
      let found = await firstOf(afterTypes.length === 0 ? {} : { eventType: { $nin: [...afterTypes] } })
      if (found === null && afterTypes.length === 1) return oldest()
      for (const eventType of afterTypes) found ??= await firstOf({ eventType })
      return found
    },

    /** Counts the deliveries in flight to the endpoint, and those of them in the replay lane. */
    async inFlight(webhookId: string): Promise<{ all: number; replay: number }> {
      const found = await deliveries
        .find({ webhookId, claimToken: { $gt: 0 } }, { projection: { lane: 1 } })
        .hint('claimed')
        .limit(64)
        .toArray()
      return { all: found.length, replay: found.filter(({ lane }) => lane === 'replay').length }
    },

    /** The earliest due time of the deliveries that wait for the endpoint and are not in flight. */
    async firstDueAt(webhookId: string): Promise<Date | null> {
      const found = await deliveries.findOne(
        { webhookId, status: 'PENDING', dueAt: { $lt: never } },
        { sort: { dueAt: 1 }, hint: 'due', projection: { dueAt: 1 } },
      )
      return found?.dueAt ?? null
    },
  }
}
