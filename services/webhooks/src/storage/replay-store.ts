import type { WithId } from 'mongodb'
import type { Collections } from './collections.ts'
import type { ReplayDocument } from './documents.ts'

const runningMax = 200

export type ReplayStore = ReturnType<typeof createReplayStore>

/** Replay jobs of endpoints. */
export function createReplayStore({ replays }: Pick<Collections, 'replays'>) {
  return {
    insert: async (job: ReplayDocument): Promise<void> => {
      await replays.insertOne(job)
    },

    read: (id: string): Promise<WithId<ReplayDocument> | null> => replays.findOne({ _id: id }),

    find: (webhookId: string, id: string): Promise<WithId<ReplayDocument> | null> =>
      replays.findOne({ _id: id, webhookId }),

    /** Newest first, before `beforeId`. */
    list: (webhookId: string, beforeId: string | null, limit: number): Promise<WithId<ReplayDocument>[]> =>
      replays
        .find({ webhookId, ...(beforeId === null ? {} : { _id: { $lt: beforeId } }) })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray(),

    /** Jobs under way, oldest first. */
    running: (): Promise<WithId<ReplayDocument>[]> =>
      replays.find({ status: 'RUNNING' }).sort({ _id: 1 }).limit(runningMax).toArray(),

    /** Changes a job that is still under way. Null when it has ended meanwhile. */
    change: (id: string, fields: Partial<ReplayDocument>): Promise<WithId<ReplayDocument> | null> =>
      replays.findOneAndUpdate({ _id: id, status: 'RUNNING' }, { $set: fields }, { returnDocument: 'after' }),
  }
}
