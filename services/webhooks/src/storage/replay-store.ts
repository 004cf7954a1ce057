import type { Scope } from '@pitboss/contracts/caller'
import { isDuplicateKey } from '@pitboss/storage/is-duplicate-key'
import type { WithId } from 'mongodb'
import type { Collections } from './collections.ts'
import type { ReplayDocument } from './documents.ts'

/** How many jobs under way are read at once. */
export const runningMax = 200

export type ReplayStore = ReturnType<typeof createReplayStore>

/** Replay jobs of endpoints. */
export function createReplayStore({ replays }: Pick<Collections, 'replays'>) {
  return {
    /** @returns the job, or the one that was inserted under its id before. */
    async insert(job: ReplayDocument): Promise<ReplayDocument> {
      try {
        await replays.insertOne(job)
        return job
      } catch (error) {
        const first = isDuplicateKey(error) ? await replays.findOne({ _id: job._id }) : null
        if (first === null) throw error
        return first
      }
    },

    /** For operations: whoever it belongs to. */
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

    /** Jobs under way, oldest first, at most `runningMax` after `afterId`. */
    running: (afterId: string): Promise<WithId<ReplayDocument>[]> =>
      replays
        .find({ status: 'RUNNING', _id: { $gt: afterId } })
        .sort({ _id: 1 })
        .limit(runningMax)
        .toArray(),

    /** Cancelled jobs of which something may still be in flight, oldest first, at most `runningMax`. */
    uncounted: (): Promise<WithId<ReplayDocument>[]> =>
      replays.find({ counted: false }).sort({ _id: 1 }).limit(runningMax).toArray(),

    /** Raises the counts of a cancelled job. @param last nothing more will come */
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

    /** Changes a job that is still under way. Null when it is foreign or has ended meanwhile. */
    change: (
      scope: Scope,
      id: string,
      fields: Partial<ReplayDocument>,
    ): Promise<WithId<ReplayDocument> | null> =>
      replays.findOneAndUpdate(
        { _id: id, ...scopeFields(scope), status: 'RUNNING' },
        { $set: fields },
        { returnDocument: 'after' },
      ),
  }
}

function scopeFields({ operatorId, environment }: Scope) {
  return { operatorId, environment }
}
