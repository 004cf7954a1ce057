import type { AuditEntry } from '@pitboss/contracts/audit'
import { type Scope, scopeOf } from '@pitboss/contracts/caller'
import type { EventType } from '@pitboss/contracts/objects/event'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { createOnce } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Db } from 'mongodb'

export const runningMax = 200
const oldest = { sort: { _id: 1 }, limit: runningMax } as const

export type ReplayDocument = WithAudit &
  Scope & {
    _id: string
    webhookId: string
    status: 'RUNNING' | 'DONE' | 'CANCELLED'
    from: Date
    to: Date
    types: EventType[]
    only: 'failed' | 'missing' | 'all'
    matched: number
    created: number
    delivered: number
    failed: number
    /** Of a cancelled job: everything in flight has ended and is counted. Earlier releases stored none. */
    counted?: boolean
    /** The job has looked at events up to this recording number. */
    doneSeq: number
    /** The end of the log when the job was created: later events are delivered anyway. */
    endSeq: number
    selected: boolean
    createdAt: Date
    finishedAt: Date | null
  }

export const replayIndexes: readonly IndexDeclaration[] = [
  { name: 'list', key: { webhookId: 1, _id: -1 } },
  { name: 'running', key: { _id: 1, status: 1 }, partialFilterExpression: { status: 'RUNNING' } },
  { name: 'uncounted', key: { _id: 1, counted: 1 }, partialFilterExpression: { counted: false } },
  auditOutboxIndex,
]

export type ReplayCounts = Pick<ReplayDocument, 'created' | 'delivered' | 'failed'>
export type ReplayStore = ReturnType<typeof createReplayStore>

export function createReplayStore(db: Db) {
  const replays = db.collection<ReplayDocument>('replays')
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

    read: (id: string) => replays.findOne({ _id: id }),

    find: (scope: Scope, webhookId: string, id: string) =>
      replays.findOne({ _id: id, webhookId, ...scopeOf(scope) }),

    /** Newest first, before `beforeId`. */
    list(scope: Scope, webhookId: string, beforeId: string | null, limit: number) {
      const before = beforeId === null ? {} : { _id: { $lt: beforeId } }
      const wanted = { webhookId, ...scopeOf(scope), ...before }
      return replays.find(wanted, { sort: { _id: -1 }, limit }).toArray()
    },

    /** Number of the account's jobs under way in both environments, counted up to `most`. */
    countRunning: ({ operatorId }: Pick<Scope, 'operatorId'>, most: number): Promise<number> =>
      replays.countDocuments({ status: 'RUNNING', operatorId }, { limit: most, hint: 'running' }),

    /** The jobs under way after `afterId`, oldest first, at most `runningMax`. */
    running: (afterId: string) =>
      replays.find({ status: 'RUNNING', _id: { $gt: afterId } }, oldest).toArray(),

    /** Cancelled jobs that may have deliveries in flight, oldest first, at most `runningMax`. */
    uncounted: () => replays.find({ counted: false }, oldest).toArray(),

    async areLeft(): Promise<boolean> {
      const one = { projection: { _id: 1 }, sort: { _id: 1 } } as const
      const running = replays.findOne({ status: 'RUNNING', _id: { $gt: '' } }, one)
      const found = await Promise.all([running, replays.findOne({ counted: false }, one)])
      return found.some((job) => job !== null)
    },

    /** Raises the counts of a cancelled job. @param last no delivery is in flight any more */
    async count(_id: string, counts: ReplayCounts, last: boolean): Promise<void> {
      const update = { $max: counts, ...(last ? { $set: { counted: true } } : {}) }
      await replays.updateOne({ _id, counted: false }, update)
    },

    /** Changes a job that is still under way. Null for a foreign one, and for one that has ended. */
    change(scope: Scope, id: string, fields: Partial<ReplayDocument>, audit: AuditEntry | null = null) {
      const running = { _id: id, ...scopeOf(scope), status: 'RUNNING' } as const
      const update = auditedUpdate<ReplayDocument>({ $set: fields }, audit)
      return replays.findOneAndUpdate(running, update, { returnDocument: 'after' })
    },
  }
}
