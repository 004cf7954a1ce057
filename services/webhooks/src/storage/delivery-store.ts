import type { Scope } from '@pitboss/contracts/caller'
import type { Filter, UpdateFilter, WithId } from 'mongodb'
import { lanes, type Lane } from '../domain/claim-plan.ts'
import type { Collections } from './collections.ts'
import { type AttemptRecord, type DeliveryDocument, type DeliveryStatus, never } from './documents.ts'

const batchMax = 500
const upcomingMax = 64
const moveBatchesMax = 10_000
/** Attempts kept with a delivery; only manual retries and replays can make more than twelve. */
const attemptsKept = 30

export type DeliveryStore = ReturnType<typeof createDeliveryStore>
export type DueDelivery = Pick<DeliveryDocument, '_id' | 'eventId' | 'eventType' | 'dueAt' | 'lane'>
export type NewDelivery = Pick<
  DeliveryDocument,
  '_id' | 'operatorId' | 'environment' | 'webhookId' | 'eventId' | 'eventType' | 'lane' | 'createdAt'
> &
  Partial<Pick<DeliveryDocument, 'replayId' | 'testBody' | 'single'>>

export type Upcoming = { lanes: Record<Lane, DueDelivery[]>; complete: boolean }

/** The delivery ledger, which is also the retry clock. */
export function createDeliveryStore({ deliveries }: Pick<Collections, 'deliveries'>) {
  /** Moves everything that `filter` finds by `update`, in batches, so that no single write grows with the backlog. */
  async function move(
    filter: Filter<DeliveryDocument>,
    update: UpdateFilter<DeliveryDocument>,
  ): Promise<number> {
    let moved = 0
    for (let batch = 0; batch < moveBatchesMax; batch++) {
      const found = await deliveries
        .find(filter, { projection: { _id: 1 } })
        .limit(batchMax)
        .toArray()
      if (found.length === 0) return moved
      const ids = found.map(({ _id }) => _id)
      const { modifiedCount } = await deliveries.updateMany({ ...filter, _id: { $in: ids } }, update)
      moved += modifiedCount
      if (found.length < batchMax) return moved
    }
    return moved
  }

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

    /** Everything pending and not in flight becomes due now. */
    backlogDue: (webhookId: string, now: Date): Promise<number> =>
      move(
        { webhookId, status: 'PENDING', dueAt: { $gt: now, $lt: never } },
        { $set: { dueAt: now, nextAttemptAt: now } },
      ),

    /** Holds what is pending and not in flight, except tests. */
    hold: (webhookId: string): Promise<number> =>
      move(
        { webhookId, status: 'PENDING', claimToken: 0, eventType: { $ne: 'webhook.test' } },
        { $set: { status: 'HELD', dueAt: never, nextAttemptAt: null } },
      ),

    /** Ends the holding: due now, or cancelled when created until `skipUntil`. */
    async release(webhookId: string, skipUntil: Date | null, now: Date): Promise<void> {
      const held = { webhookId, status: 'HELD' as const }
      if (skipUntil !== null) {
        await move({ ...held, createdAt: { $lte: skipUntil } }, { $set: { status: 'CANCELLED' } })
      }
      await move(held, { $set: { status: 'PENDING', dueAt: now, nextAttemptAt: now } })
    },

    hasHeld: async (webhookId: string): Promise<boolean> =>
      (await deliveries.findOne({ webhookId, status: 'HELD' }, { projection: { _id: 1 } })) !== null,

    /** Cancels all that waits for an endpoint which is going away. */
    async cancelAll(webhookId: string): Promise<void> {
      const cancelled = { $set: { status: 'CANCELLED' as const, dueAt: never, nextAttemptAt: null } }
      await move({ webhookId, status: 'PENDING', claimToken: 0 }, cancelled)
      await move({ webhookId, status: 'HELD' }, cancelled)
    },

    /** Sends an ended delivery once more. Null when it has changed meanwhile. */
    async reopen(
      { _id, status, attemptCount }: Pick<DeliveryDocument, '_id' | 'status' | 'attemptCount'>,
      now: Date,
    ): Promise<WithId<DeliveryDocument> | null> {
      return deliveries.findOneAndUpdate(
        { _id, status, attemptCount },
        {
          $set: {
            status: 'PENDING',
            lane: 'manual',
            single: true,
            scheduleBase: attemptCount,
            previousStatus: status,
            dueAt: now,
            nextAttemptAt: now,
            deliveredAt: null,
          },
        },
        { returnDocument: 'after' },
      )
    },

    /** Pulls a pending delivery forward; one in flight stays as it is. */
    async pullForward(id: string, now: Date): Promise<WithId<DeliveryDocument> | null> {
      return deliveries.findOneAndUpdate(
        { _id: id, status: 'PENDING', claimToken: 0 },
        { $set: { lane: 'manual', dueAt: now, nextAttemptAt: now } },
        { returnDocument: 'after' },
      )
    },

    /** Gives ended deliveries a fresh schedule in the lane of a replay job. @returns how many it took. */
    async replayAgain(
      ids: readonly string[],
      statuses: readonly DeliveryStatus[],
      replayId: string,
      now: Date,
    ): Promise<number> {
      if (ids.length === 0) return 0
      const found = await deliveries
        .find(
          { _id: { $in: [...ids] }, status: { $in: [...statuses] } },
          { projection: { status: 1, attemptCount: 1 } },
        )
        .toArray()
      if (found.length === 0) return 0
      const operations = found.map(({ _id, status, attemptCount }) => ({
        updateOne: {
          filter: { _id, status, attemptCount },
          update: {
            $set: {
              status: 'PENDING' as const,
              lane: 'replay' as const,
              single: false,
              scheduleBase: attemptCount,
              firstAttemptAt: null,
              previousStatus: status,
              replayId,
              dueAt: now,
              nextAttemptAt: now,
              deliveredAt: null,
            },
          },
        },
      }))
      return (await deliveries.bulkWrite(operations, { ordered: false })).modifiedCount
    },

    /** Takes back what a replay job has asked for and no attempt has been made at since. */
    async cancelReplay(replayId: string): Promise<void> {
      for (const status of ['PENDING', 'HELD'] as const) {
        const mine = { replayId, status, claimToken: 0 }
        for (const before of ['FAILED', 'DELIVERED'] as const) {
          await move(
            { ...mine, previousStatus: before, firstAttemptAt: null },
            { $set: { status: before, dueAt: never, nextAttemptAt: null } },
          )
        }
        await move(mine, { $set: { status: 'CANCELLED', dueAt: never, nextAttemptAt: null } })
      }
    },

    /** Counts of a replay job. Each is one query: added-up counts would see a delivery twice while it changes. */
    async countReplay(
      replayId: string,
    ): Promise<{ all: number; delivered: number; failed: number; open: boolean }> {
      const [all, delivered, failed, open] = await Promise.all([
        deliveries.countDocuments({ replayId }),
        deliveries.countDocuments({ replayId, status: 'DELIVERED' }),
        deliveries.countDocuments({ replayId, status: 'FAILED' }),
        deliveries.findOne({ replayId, status: { $in: ['PENDING', 'HELD'] } }, { projection: { _id: 1 } }),
      ])
      return { all, delivered, failed, open: open !== null }
    },

    find: (scope: Scope, id: string): Promise<WithId<DeliveryDocument> | null> =>
      deliveries.findOne({ _id: id, operatorId: scope.operatorId, environment: scope.environment }),

    /** For operations: whoever it belongs to. */
    read: (id: string): Promise<WithId<DeliveryDocument> | null> => deliveries.findOne({ _id: id }),

    /** Newest first, before `beforeOrder`; the scope is part of `filter` where there is one. */
    list: (filter: Filter<DeliveryDocument>, limit: number): Promise<WithId<DeliveryDocument>[]> =>
      deliveries.find(filter).sort({ order: -1 }).limit(limit).toArray(),

    /** How many are in flight to the endpoint now, and how many of them in the replay lane. */
    async inFlight(webhookId: string): Promise<{ all: number; replay: number }> {
      const found = await deliveries
        .find({ webhookId, claimToken: { $gt: 0 } }, { projection: { lane: 1 } })
        .limit(64)
        .toArray()
      return { all: found.length, replay: found.filter(({ lane }) => lane === 'replay').length }
    },

    async statusCounts(): Promise<{ pending: number; held: number }> {
      const [pending, held] = await Promise.all([
        deliveries.countDocuments({ status: 'PENDING' }),
        deliveries.countDocuments({ status: 'HELD' }),
      ])
      return { pending, held }
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
