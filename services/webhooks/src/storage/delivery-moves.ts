import type { AuditEntry } from '@pitboss/contracts/audit'
import { type Scope, scopeOf } from '@pitboss/contracts/caller'
import type { Filter, UpdateFilter } from 'mongodb'
import { auditedUpdate } from '@pitboss/storage/audit-outbox'
import type { EventType } from '@pitboss/contracts/objects/event'
import { type Collections, type DeliveryDocument, never } from './collections.ts'
import { orderOf } from './new-delivery.ts'

const batchMax = 500
const moveBatchesMax = 10_000
const firstIds = { projection: { _id: 1 }, limit: batchMax } as const

const waitingStatuses: ('PENDING' | 'HELD')[] = ['PENDING', 'HELD']

const cancelled = { $set: { status: 'CANCELLED', dueAt: never, nextAttemptAt: null } } as const

type Known = Pick<DeliveryDocument, '_id' | 'webhookId' | 'attemptCount'>
type OfEndpoint = Filter<DeliveryDocument> & { readonly webhookId: string }
type Statuses = readonly DeliveryDocument['status'][]
type ReplayKey = { readonly _id: string; readonly webhookId: string }
type ReplayCounts = { readonly created: number; readonly delivered: number; readonly failed: number }

/** Changes by people, pauses and replay jobs. Each names the endpoint, the shard key. */
export function createDeliveryMoves({ deliveries }: Pick<Collections, 'deliveries'>) {
  /** Updates in batches, so that no single write grows with the backlog. @returns how many were changed */
  async function move(filter: OfEndpoint, update: UpdateFilter<DeliveryDocument>): Promise<number> {
    let moved = 0
    for (let batch = 0; batch < moveBatchesMax; batch++) {
      const found = await deliveries.find(filter, firstIds).toArray()
      if (found.length === 0) return moved
      const ids = found.map(({ _id }) => _id)
      const { modifiedCount } = await deliveries.updateMany({ ...filter, _id: { $in: ids } }, update)
      moved += modifiedCount
      if (found.length < batchMax) return moved
    }
    return moved
  }

  const changeOne = (filter: Filter<DeliveryDocument>, $set: Partial<DeliveryDocument>, audit: AuditEntry) =>
    deliveries.findOneAndUpdate(filter, auditedUpdate<DeliveryDocument>({ $set }, audit), {
      returnDocument: 'after',
    })

  async function endedBy(replayId: string): Promise<ReplayCounts> {
    // Deliveries that a cancelled job took back have no attempt since.
    const own = { replayId, single: false, firstAttemptAt: { $ne: null } }
    const count = (filter: Filter<DeliveryDocument>) => deliveries.countDocuments(filter)
    const ended = [count({ ...own, status: 'DELIVERED' }), count({ ...own, status: 'FAILED' })] as const
    const [created, delivered, failed] = await Promise.all([count({ replayId }), ...ended])
    return { created, delivered, failed }
  }

  return {
    /** Makes all due that is pending and not in flight, once for this closing of the breaker. */
    pullBacklog(webhookId: string, closedAt: Date, now: Date): Promise<number> {
      const later = { webhookId, status: 'PENDING', dueAt: { $gt: now, $lt: never } } as const
      const unpulled = { $or: [{ pulledFor: null }, { pulledFor: { $lt: closedAt } }] }
      const due = { dueAt: now, nextAttemptAt: now, pulledFor: closedAt }
      return move({ ...later, ...unpulled }, { $set: due })
    },

    hold: (webhookId: string): Promise<number> =>
      move(
        { webhookId, status: 'PENDING', claimToken: 0, eventType: { $ne: 'webhook.test' } },
        { $set: { status: 'HELD', dueAt: never, nextAttemptAt: null } },
      ),

    /** Releases held deliveries: they are due now, or cancelled when created until `skipUntil`. */
    async release(webhookId: string, skipUntil: Date | null, now: Date): Promise<void> {
      const held = { webhookId, status: 'HELD' as const }
      if (skipUntil !== null)
        await move({ ...held, createdAt: { $lte: skipUntil } }, { $set: { status: 'CANCELLED' } })
      await move(held, { $set: { status: 'PENDING', dueAt: now, nextAttemptAt: now } })
    },

    async hasHeld(webhookId: string): Promise<boolean> {
      const held = { webhookId, status: 'HELD' } as const
      return (await deliveries.findOne(held, { hint: 'held', projection: { _id: 1 } })) !== null
    },

    async cancelAll(webhookId: string): Promise<void> {
      await move({ webhookId, status: 'PENDING', claimToken: 0 }, cancelled)
      await move({ webhookId, status: 'HELD' }, cancelled)
    },

    /** Cancels what waits and was made until `until`, except these types and tests. */
    async cancelTypes(webhookId: string, kept: readonly EventType[], until: Date): Promise<void> {
      const others = {
        ...{ webhookId, order: { $lt: orderOf(new Date(until.getTime() + 1), '') } },
        eventType: { $nin: [...kept, 'webhook.test' as const] },
      }
      await move({ ...others, status: 'PENDING', claimToken: 0 }, cancelled)
      await move({ ...others, status: 'HELD' }, cancelled)
    },

    /** Cancels these, unless they are in flight or a person has asked for them meanwhile. */
    async cancelWaiting(webhookId: string, ids: readonly string[]): Promise<void> {
      const waiting = { webhookId, status: 'PENDING', claimToken: 0, lane: { $ne: 'manual' } } as const
      await deliveries.updateMany({ ...waiting, _id: { $in: [...ids] } }, cancelled)
    },

    /** Makes an ended delivery due once more. Null for a foreign one, or one that has changed meanwhile. */
    reopen(scope: Scope, delivery: Known & Pick<DeliveryDocument, 'status'>, now: Date, audit: AuditEntry) {
      const { _id, webhookId, status, attemptCount } = delivery
      const asked = { status: 'PENDING', lane: 'manual', single: true, scheduleBase: attemptCount } as const
      const times = { dueAt: now, nextAttemptAt: now, deliveredAt: null }
      const filter = { _id, webhookId, ...scopeOf(scope), status, attemptCount }
      return changeOne(filter, { ...asked, ...times, previousStatus: status }, audit)
    },

    /** Pulls a pending delivery forward. Null for a foreign one, or one that has been sent meanwhile. */
    pullForward(scope: Scope, { _id, webhookId, attemptCount }: Known, now: Date, audit: AuditEntry) {
      const waiting = { attemptCount, status: 'PENDING', claimToken: 0 } as const
      const filter = { _id, webhookId, ...scopeOf(scope), ...waiting }
      return changeOne(filter, { lane: 'manual', dueAt: now, nextAttemptAt: now }, audit)
    },

    /** Starts ended deliveries of the job's endpoint again, in its lane. @returns how many it took */
    async replayAgain(job: ReplayKey, ids: readonly string[], statuses: Statuses, now: Date) {
      const { _id: replayId, webhookId } = job
      if (ids.length === 0) return 0
      const ended = { _id: { $in: [...ids] }, webhookId, status: { $in: [...statuses] } }
      const found = await deliveries.find(ended, { projection: { status: 1, attemptCount: 1 } }).toArray()
      if (found.length === 0) return 0
      const again = { status: 'PENDING', lane: 'replay', single: false, replayId } as const
      const times = { step: 1, stepDueAt: now, firstAttemptAt: null, dueAt: now, nextAttemptAt: now }
      const operations = found.map(({ _id, status, attemptCount }) => {
        const $set = { ...again, ...times, scheduleBase: attemptCount, previousStatus: status }
        return { updateOne: { filter: { _id, webhookId, status, attemptCount }, update: { $set } } }
      })
      return (await deliveries.bulkWrite(operations, { ordered: false })).modifiedCount
    },

    /** Takes back a job's deliveries without a new attempt, and cancels its own; not those in flight. */
    async cancelReplay({ _id: replayId, webhookId }: ReplayKey): Promise<void> {
      for (const status of waitingStatuses) {
        const mine = { webhookId, replayId, status, claimToken: 0, single: false }
        for (const before of ['FAILED', 'DELIVERED'] as const) {
          const ended = { status: before, dueAt: never, nextAttemptAt: null }
          await move({ ...mine, previousStatus: before, firstAttemptAt: null }, { $set: ended })
        }
        await move(mine, cancelled)
      }
    },

    /** Each in one query: a sum counts one twice. With none open again: the last may have ended since. */
    async countReplay(replayId: string): Promise<ReplayCounts & { open: boolean }> {
      const waiting = { replayId, status: { $in: waitingStatuses }, single: false }
      const first = deliveries.findOne(waiting, { projection: { _id: 1 } })
      const [counts, open] = await Promise.all([endedBy(replayId), first])
      return open === null ? { ...(await endedBy(replayId)), open: false } : { ...counts, open: true }
    },
  }
}
