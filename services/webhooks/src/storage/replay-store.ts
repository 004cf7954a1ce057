import type { AuditEntry } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import { auditedUpdate } from '@pitboss/storage/audit-outbox'
import { createOnce } from '@pitboss/storage/create-once'
import type { WithId } from 'mongodb'
import { type Collections, type ReplayDocument, scopeFields } from './collections.ts'

/** Bounds the jobs that are read at once. */
export const runningMax = 200

export type ReplayStore = ReturnType<typeof createReplayStore>

export function createReplayStore({ replays }: Pick<Collections, 'replays'>) {
  return {
    /** @returns the job, or the one that was inserted under its id before */
    async insert(job: ReplayDocument): Promise<ReplayDocument> {
      const { result } = await createOnce<ReplayDocument>({
        document: job,
        insert: () => replays.insertOne(job),
        find: () => replays.findOne({ _id: job._id }),
        name: `replay ${job._id}`,
      })
      return result
    },

    /** For operations: a job of any account. */
    read: (id: string): Promise<WithId<ReplayDocument> | null> => replays.findOne({ _id: id }),

    find: (scope: Scope, webhookId: string, id: string): Promise<WithId<ReplayDocument> | null> =>
      replays.findOne({ _id: id, webhookId, ...scopeFields(scope) }),

    /** Newest first, before `beforeId`. */
    list: (
      scope: Scope,
      webhookId: string,
      beforeId: string | null,
      limit: number,
    ): Promise<WithId<ReplayDocument>[]> =>
      replays
        .find({ webhookId, ...scopeFields(scope), ...(beforeId === null ? {} : { _id: { $lt: beforeId } }) })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray(),

    /** Number of the account's jobs under way in both environments, counted up to `most`. */
    countRunning: ({ operatorId }: Scope, most: number): Promise<number> =>
      replays.countDocuments({ status: 'RUNNING', operatorId }, { limit: most, hint: 'running' }),

    /** The jobs under way after `afterId`, oldest first, at most `runningMax`. */
    running: (afterId: string): Promise<WithId<ReplayDocument>[]> =>
      replays
        .find({ status: 'RUNNING', _id: { $gt: afterId } })
        .sort({ _id: 1 })
        .limit(runningMax)
        .toArray(),

    /** Cancelled jobs that may have deliveries in flight, oldest first, at most `runningMax`. */
    uncounted: (): Promise<WithId<ReplayDocument>[]> =>
      replays.find({ counted: false }).sort({ _id: 1 }).limit(runningMax).toArray(),

    /** Whether a job is under way, or a cancelled one is not counted yet. */
    async areLeft(): Promise<boolean> {
      const one = { projection: { _id: 1 }, sort: { _id: 1 } } as const
      const found = await Promise.all([
        replays.findOne({ status: 'RUNNING', _id: { $gt: '' } }, one),
        replays.findOne({ counted: false }, one),
      ])
      return found.some((job) => job !== null)
    },

    /** Raises the counts of a cancelled job. @param last no delivery is in flight any more */
    async count(
      id: string,
      counts: Pick<ReplayDocument, 'created' | 'delivered' | 'failed'>,
      last: boolean,
    ): Promise<void> {
      await replays.updateOne(
        { _id: id, counted: false },
        { $max: counts, ...(last ? { $set: { counted: true } } : {}) },
      )
    },

    /** Changes a job that is still under way. Null for a foreign one, and for one that has ended. */
    change: (
      scope: Scope,
      id: string,
      fields: Partial<ReplayDocument>,
      audit: AuditEntry | null = null,
    ): Promise<WithId<ReplayDocument> | null> =>
      replays.findOneAndUpdate(
        { _id: id, ...scopeFields(scope), status: 'RUNNING' },
        auditedUpdate<ReplayDocument>({ $set: fields }, audit),
        { returnDocument: 'after' },
      ),
  }
}
