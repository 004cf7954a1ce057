import type { Scope } from '@pitboss/contracts/caller'
import type { AnyBulkWriteOperation, Filter, UpdateFilter, WithId } from 'mongodb'
import { stepDueAtOf } from '../rules/delivery-place.ts'
import type { Collections } from './collections.ts'
import { type DeliveryDocument, type DeliveryStatus, never } from './documents.ts'

const batchMax = 500
const moveBatchesMax = 10_000

type ReplayCounts = { readonly all: number; readonly delivered: number; readonly failed: number }

/** What people, pauses and replay jobs do to deliveries, many at a time where need be. */
export function createDeliveryMoves({ deliveries }: Pick<Collections, 'deliveries'>) {
  /**
   * Moves everything that `filter` finds by `update`, in batches, so that no single write grows with the
   * backlog.
   */
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

  async function endedBy(replayId: string): Promise<ReplayCounts> {
    // What was taken back ended before the job, and no attempt has been made at it since.
    const own = { replayId, single: false, firstAttemptAt: { $ne: null } }
    const [all, delivered, failed] = await Promise.all([
      deliveries.countDocuments({ replayId }),
      deliveries.countDocuments({ ...own, status: 'DELIVERED' }),
      deliveries.countDocuments({ ...own, status: 'FAILED' }),
    ])
    return { all, delivered, failed }
  }

  return {
    /**
     * Everything pending and not in flight becomes due now, beside its schedule: each delivery once for this
     * closing of the breaker, however often this is repeated.
     */
    async pullBacklog(webhookId: string, closedAt: Date, now: Date): Promise<number> {
      const waiting: Filter<DeliveryDocument> = {
        ...{ webhookId, status: 'PENDING', dueAt: { $gt: now, $lt: never } },
        $or: [{ pulledFor: null }, { pulledFor: { $lt: closedAt } }],
      }
      const pulled = { dueAt: now, nextAttemptAt: now, pulledFor: closedAt }
      let moved = 0
      for (let batch = 0; batch < moveBatchesMax; batch++) {
        const found = await deliveries
          .find(waiting, { projection: { stepDueAt: 1, nextAttemptAt: 1, createdAt: 1 } })
          .limit(batchMax)
          .toArray()
        if (found.length === 0) return moved
        const placed = found.filter(({ stepDueAt }) => stepDueAt !== undefined).map(({ _id }) => _id)
        const operations: AnyBulkWriteOperation<DeliveryDocument>[] = [
          { updateMany: { filter: { ...waiting, _id: { $in: placed } }, update: { $set: pulled } } },
        ]
        for (const delivery of found) {
          if (delivery.stepDueAt !== undefined) continue
          // What an earlier release left without a place would lose the time of its step.
          const kept = { ...pulled, stepDueAt: stepDueAtOf(delivery) }
          operations.push({
            updateOne: { filter: { ...waiting, _id: delivery._id }, update: { $set: kept } },
          })
        }
        moved += (await deliveries.bulkWrite(operations, { ordered: false })).modifiedCount
        if (found.length < batchMax) return moved
      }
      return moved
    },

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
      (await deliveries.findOne({ webhookId, status: 'HELD' }, { hint: 'held', projection: { _id: 1 } })) !==
      null,

    /** Cancels all that waits for an endpoint which is going away. */
    async cancelAll(webhookId: string): Promise<void> {
      const cancelled = { $set: { status: 'CANCELLED' as const, dueAt: never, nextAttemptAt: null } }
      await move({ webhookId, status: 'PENDING', claimToken: 0 }, cancelled)
      await move({ webhookId, status: 'HELD' }, cancelled)
    },

    /** Sends an ended delivery once more. Null when it is foreign or has changed meanwhile. */
    async reopen(
      { operatorId, environment }: Scope,
      { _id, status, attemptCount }: Pick<DeliveryDocument, '_id' | 'status' | 'attemptCount'>,
      now: Date,
    ): Promise<WithId<DeliveryDocument> | null> {
      return deliveries.findOneAndUpdate(
        { _id, operatorId, environment, status, attemptCount },
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

    /**
     * Pulls a pending delivery forward, beside its schedule. Null when it is foreign or has been sent
     * meanwhile.
     */
    async pullForward(
      { operatorId, environment }: Scope,
      delivery: Pick<DeliveryDocument, '_id' | 'attemptCount' | 'stepDueAt' | 'nextAttemptAt' | 'createdAt'>,
      now: Date,
    ): Promise<WithId<DeliveryDocument> | null> {
      const { _id, attemptCount } = delivery
      return deliveries.findOneAndUpdate(
        { _id, operatorId, environment, status: 'PENDING', claimToken: 0, attemptCount },
        { $set: { lane: 'manual', dueAt: now, nextAttemptAt: now, stepDueAt: stepDueAtOf(delivery) } },
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
              step: 1,
              stepDueAt: now,
              firstAttemptAt: null,
              previousStatus: status,
              replayId,
              dueAt: now,
              nextAttemptAt: now,
            },
          },
        },
      }))
      return (await deliveries.bulkWrite(operations, { ordered: false })).modifiedCount
    },

    /**
     * Takes back what a replay job has asked for and no attempt has been made at since, and cancels what it
     * would send again. What is in flight stays, and an ended delivery that a person sends once more.
     */
    async cancelReplay(replayId: string): Promise<void> {
      for (const status of ['PENDING', 'HELD'] as const) {
        const mine = { replayId, status, claimToken: 0, single: false }
        for (const before of ['FAILED', 'DELIVERED'] as const) {
          await move(
            { ...mine, previousStatus: before, firstAttemptAt: null },
            { $set: { status: before, dueAt: never, nextAttemptAt: null } },
          )
        }
        await move(mine, { $set: { status: 'CANCELLED', dueAt: never, nextAttemptAt: null } })
      }
    },

    /**
     * Counts of a replay job, of what it has itself brought to an end. Each is one query: added-up counts
     * would see a delivery twice while it changes. They are taken again when none is open any more, since the
     * last may have ended between them and that look.
     */
    async countReplay(replayId: string): Promise<ReplayCounts & { open: boolean }> {
      const [counts, open] = await Promise.all([
        endedBy(replayId),
        deliveries.findOne(
          { replayId, status: { $in: ['PENDING', 'HELD'] }, single: false },
          { projection: { _id: 1 } },
        ),
      ])
      return open === null ? { ...(await endedBy(replayId)), open: false } : { ...counts, open: true }
    },
  }
}
