import type { Filter, WithId } from 'mongodb'
import { lanes, type Lane } from '../domain/claim-plan.ts'
import type { Collections } from './collections.ts'
import { type AttemptRecord, type DeliveryDocument, never } from './documents.ts'

const batchMax = 500
const upcomingMax = 64
/** Attempts kept with a delivery; only manual retries and replays can make more than twelve. */
const attemptsKept = 30

export type DueDelivery = Pick<DeliveryDocument, '_id' | 'eventId' | 'eventType' | 'dueAt' | 'lane'>
export type NewDelivery = Pick<
  DeliveryDocument,
  '_id' | 'operatorId' | 'environment' | 'webhookId' | 'eventId' | 'eventType' | 'lane' | 'createdAt'
> &
  Partial<Pick<DeliveryDocument, 'replayId' | 'testBody' | 'single'>>

export type Upcoming = { lanes: Record<Lane, DueDelivery[]>; complete: boolean }

/** Deliveries as a queue: made, claimed in due order, completed, and recovered from workers that died. */
export function createDeliveryQueue({ deliveries }: Pick<Collections, 'deliveries'>) {
  return {
    /** Makes the deliveries that do not exist yet, changes none that does. @returns how many were made. */
    async create(fresh: readonly NewDelivery[]): Promise<number> {
      let made = 0
      for (let start = 0; start < fresh.length; start += batchMax) {
        const operations = fresh.slice(start, start + batchMax).map((delivery) => {
          const { _id, ...fields } = newDocument(delivery)
          return { updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true } }
        })
        const result = await deliveries.bulkWrite(operations, { ordered: false })
        made += result.upsertedCount
      }
      return made
    },

    /** Those of `ids` that exist, with what a replay must know of them. */
    async existing(
      ids: readonly string[],
    ): Promise<Map<string, Pick<DeliveryDocument, '_id' | 'status' | 'replayId'>>> {
      const found = await deliveries
        .find({ _id: { $in: [...ids] } }, { projection: { status: 1, replayId: 1 } })
        .toArray()
      return new Map(found.map((delivery) => [delivery._id, delivery]))
    },

    /**
     * What is pending and not in flight, in due order, due or not. `complete` when that is all of it; else the first of each lane, so
     * that no lane is hidden behind another's backlog.
     */
    async upcoming(webhookId: string): Promise<Upcoming> {
      const waiting = { webhookId, status: 'PENDING' as const, dueAt: { $lt: never } }
      const first = (filter: Filter<DeliveryDocument>) =>
        deliveries
          .find(filter, { projection: { eventId: 1, eventType: 1, dueAt: 1, lane: 1 } })
          .sort({ dueAt: 1 })
          .limit(upcomingMax)
          .toArray()
      const found = await first(waiting)
      if (found.length < upcomingMax) {
        const inLane = (lane: Lane) => found.filter((delivery) => delivery.lane === lane)
        return { lanes: eachLane(inLane), complete: true }
      }
      const perLane = await Promise.all(lanes.map((lane) => first({ ...waiting, lane })))
      return { lanes: eachLane((lane) => perLane[lanes.indexOf(lane)] ?? []), complete: false }
    },

    /** The oldest by creation of what is due: the breaker's probe. */
    async oldestDue(webhookId: string, now: Date): Promise<DueDelivery | null> {
      return deliveries.findOne(
        { webhookId, status: 'PENDING', lane: { $ne: 'manual' }, dueAt: { $lte: now } },
        { sort: { order: 1 }, projection: { eventId: 1, eventType: 1, dueAt: 1, lane: 1 } },
      )
    },

    /**
     * Stores the next attempt's number and the worker's token with each. What somebody else has taken, or what is not due any more, is
     * left out.
     */
    async claim(ids: readonly string[], token: number, now: Date): Promise<WithId<DeliveryDocument>[]> {
      const claim = {
        $set: { claimToken: token, claimedAt: now, dueAt: never },
        $inc: { attemptCount: 1 },
      }
      const claimable = { status: 'PENDING' as const, claimToken: 0, dueAt: { $lte: now } }
      const [only] = ids
      if (ids.length === 1 && only !== undefined) {
        const options = { returnDocument: 'after', projection: { attempts: 0 } } as const
        const claimed = await deliveries.findOneAndUpdate({ _id: only, ...claimable }, claim, options)
        return claimed === null ? [] : [claimed]
      }
      await deliveries.updateMany({ _id: { $in: [...ids] }, ...claimable }, claim)
      return deliveries
        .find({ _id: { $in: [...ids] }, claimToken: token, claimedAt: now }, { projection: { attempts: 0 } })
        .toArray()
    },

    /** Writes the result of the attempt, if the claim still stands. False when it was lost. */
    async complete(
      { _id, claimToken, attemptCount }: Pick<DeliveryDocument, '_id' | 'claimToken' | 'attemptCount'>,
      fields: Partial<DeliveryDocument>,
      attempt: AttemptRecord,
    ): Promise<boolean> {
      const { matchedCount } = await deliveries.updateOne(
        { _id, claimToken, attemptCount },
        {
          $set: { ...fields, claimToken: 0, claimedAt: null },
          $push: { attempts: { $each: [attempt], $slice: -attemptsKept } },
        },
      )
      return matchedCount === 1
    },

    /** What dead workers left in flight for this endpoint becomes due; the attempt stays on record with an unknown outcome. */
    async recoverOrphans(webhookId: string, token: number, now: Date): Promise<number> {
      const orphans = await deliveries
        .find(
          { webhookId, claimToken: { $gt: 0, $lt: token } },
          { projection: { claimToken: 1, attemptCount: 1, claimedAt: 1, lane: 1, firstAttemptAt: 1 } },
        )
        .toArray()
      for (const { _id, claimToken, attemptCount, claimedAt, lane, firstAttemptAt } of orphans) {
        const sentAt = claimedAt ?? now
        await deliveries.updateOne(
          { _id, claimToken },
          {
            $set: {
              claimToken: 0,
              claimedAt: null,
              dueAt: now,
              lane: lane === 'fresh' ? 'retry' : lane,
              firstAttemptAt: firstAttemptAt ?? sentAt,
            },
            $push: {
              attempts: { $each: [interruptedAttempt(attemptCount, sentAt)], $slice: -attemptsKept },
            },
          },
        )
      }
      return orphans.length
    },

    /** How many are in flight to the endpoint now, and how many of them in the replay lane. */
    async inFlight(webhookId: string): Promise<{ all: number; replay: number }> {
      const found = await deliveries
        .find({ webhookId, claimToken: { $gt: 0 } }, { projection: { lane: 1 } })
        .limit(64)
        .toArray()
      return { all: found.length, replay: found.filter(({ lane }) => lane === 'replay').length }
    },

    /** The earliest due time among what waits for the endpoint and is not in flight. */
    async firstDueAt(webhookId: string): Promise<Date | null> {
      const found = await deliveries.findOne(
        { webhookId, status: 'PENDING', dueAt: { $lt: never } },
        { sort: { dueAt: 1 }, projection: { dueAt: 1 } },
      )
      return found?.dueAt ?? null
    },
  }
}

function eachLane<Value>(valueOf: (lane: Lane) => Value): Record<Lane, Value> {
  return {
    fresh: valueOf('fresh'),
    retry: valueOf('retry'),
    replay: valueOf('replay'),
    manual: valueOf('manual'),
  }
}

/** The order of creation as one text; 15 digits hold every instant that a date can. */
export function orderOf(createdAt: Date, id: string): string {
  return `${String(createdAt.getTime()).padStart(15, '0')}/${id}`
}

function newDocument(delivery: NewDelivery): DeliveryDocument {
  return {
    status: 'PENDING',
    order: orderOf(delivery.createdAt, delivery._id),
    dueAt: delivery.createdAt,
    nextAttemptAt: delivery.createdAt,
    attemptCount: 0,
    attempts: [],
    firstAttemptAt: null,
    scheduleBase: 0,
    single: false,
    failedInStreak: null,
    claimToken: 0,
    claimedAt: null,
    deliveredAt: null,
    replayId: null,
    previousStatus: null,
    testBody: null,
    ...delivery,
  }
}

function interruptedAttempt(attempt: number, sentAt: Date): AttemptRecord {
  return {
    attempt,
    sentAt,
    durationMs: null,
    httpStatus: null,
    error: 'interrupted: the worker went away, the outcome is unknown',
    responseExcerpt: null,
    timings: null,
    hint: null,
  }
}
