import type { AuditEntry } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import type { Collection, Filter, MatchKeysAndValues, UpdateFilter, WithId } from 'mongodb'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from './audit-outbox.ts'
import { insertedFirst } from './create-once.ts'
import type { IndexDeclaration } from './ensure-indexes.ts'

/** A piece of long work that a person asked for, with its progress and, at the end, its result. */
export type JobDocument = WithAudit & {
  readonly _id: string
  readonly operatorId: string
  readonly environment: Scope['environment']
  /** What it works on: one job for each at a time. */
  readonly subject: string
  readonly status: 'RUNNING' | 'DONE' | 'CANCELLED'
  /** A process works on it until then; another one may take it afterwards. */
  readonly claimedUntil: Date
  /** Greater with each claim, so that a former claimant writes nothing. */
  readonly claimToken: number
  readonly createdAt: Date
  readonly finishedAt: Date | null
}

export type NewJob = { id: string; scope: Scope; subject: string; now: Date }

/** The fields of a job that was just ordered; any process may claim it. */
export function newJob({ id, scope, subject, now }: NewJob): JobDocument {
  const { operatorId, environment } = scope
  return {
    ...{ _id: id, operatorId, environment, subject, status: 'RUNNING' },
    ...{ claimedUntil: new Date(0), claimToken: 0, createdAt: now, finishedAt: null },
  }
}

export type JobStore<Job extends JobDocument, Large extends keyof Job & string = never> = ReturnType<
  typeof createJobStore<Job, Large>
>

/** Results are kept as long as the audit log tells who asked for them. */
const keptS = 400 * 24 * 60 * 60

/** Declare them for the collection of the jobs. */
export const jobIndexes: readonly IndexDeclaration[] = [
  { key: { subject: 1, _id: -1 }, name: 'subject_id' },
  { key: { subject: 1 }, name: 'one_running', unique: true, partialFilterExpression: { status: 'RUNNING' } },
  { key: { createdAt: 1 }, name: 'four_hundred_days', expireAfterSeconds: keptS },
  auditOutboxIndex,
]

/**
 * Jobs of one kind. A process claims a job for a time that it prolongs while it works; a job of a process
 * that died is claimed by another one when the time has run out. Only the present claimant writes progress
 * and the end, and a person may cancel it.
 * @param large the field that lists leave out
 */
export function createJobStore<Job extends JobDocument, Large extends keyof Job & string>(
  collection: Collection<Job>,
  large: Large,
) {
  const jobs = collection as unknown as Collection<JobDocument>
  const found = (job: WithId<JobDocument> | null) => job as unknown as Job | null

  async function write({ _id, claimToken }: JobDocument, update: UpdateFilter<Job>): Promise<boolean> {
    const present = { _id, claimToken, status: 'RUNNING' } as Filter<JobDocument>
    const { matchedCount } = await jobs.updateOne(present, update as UpdateFilter<JobDocument>)
    return matchedCount === 1
  }

  /** Whether a cancelled job of the subject may have a step under way. */
  async function isHeld(subject: string, now: Date): Promise<boolean> {
    const held = { subject, status: 'CANCELLED', claimedUntil: { $gt: now } } as const
    return (await jobs.findOne(held, { projection: { _id: 1 }, hint: 'subject_id' })) !== null
  }

  return {
    /** False when a job of the subject runs. */
    insert: (job: Job): Promise<boolean> => insertedFirst(() => jobs.insertOne(job)),
    find: async ({ operatorId, environment }: Scope, id: string) =>
      found(await jobs.findOne({ _id: id, operatorId, environment })),
    /** The one that runs. */
    findRunning: async ({ operatorId, environment }: Scope, subject: string) =>
      found(await jobs.findOne({ subject, status: 'RUNNING', operatorId, environment })),
    /** Newest first, before `before`. */
    async list(
      { operatorId, environment }: Scope,
      subject: string,
      { before, limit }: { before: string | null; limit: number },
    ): Promise<(Omit<Job, Large> & { readonly _id: string })[]> {
      const older = before === null ? {} : { _id: { $lt: before } }
      const page = await jobs
        .find({ subject, operatorId, environment, ...older }, { projection: { [large]: 0 } })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray()
      return page as unknown as (Omit<Job, Large> & { readonly _id: string })[]
    },
    /**
     * Claims a job that nobody works on, until `until`; null when there is none, `waits` when somebody was
     * faster, or when a cancelled job still has its subject.
     */
    async claim(now: Date, until: Date): Promise<Job | 'waits' | null> {
      const waiting: string[] = []
      const nextFree = () =>
        jobs.findOne(
          { status: 'RUNNING', claimedUntil: { $lte: now }, subject: { $nin: waiting } },
          { projection: { claimToken: 1, subject: 1 }, hint: 'one_running' },
        )
      let next = await nextFree()
      // After the look at the job: its order came after the cancel.
      while (next !== null && (await isHeld(next.subject, now))) {
        waiting.push(next.subject)
        next = await nextFree()
      }
      if (next === null) return waiting.length === 0 ? null : 'waits'
      const { _id, claimToken } = next
      const claimed = found(
        await jobs.findOneAndUpdate(
          { _id, claimToken, status: 'RUNNING' },
          { $set: { claimedUntil: until }, $inc: { claimToken: 1 } },
          { returnDocument: 'after' },
        ),
      )
      return claimed ?? 'waits'
    },
    /** Cancels a job, whoever works on it. Null for a foreign one, and for one that has ended. */
    async cancel(
      { operatorId, environment }: Scope,
      id: string,
      end: Partial<Job>,
      now: Date,
      entry: AuditEntry,
    ): Promise<Job | null> {
      const $set = { ...end, status: 'CANCELLED', finishedAt: now }
      const update = auditedUpdate<Job>({ $set } as unknown as UpdateFilter<Job>, entry)
      return found(
        await jobs.findOneAndUpdate(
          { _id: id, operatorId, environment, status: 'RUNNING' },
          update as UpdateFilter<JobDocument>,
          { returnDocument: 'after' },
        ),
      )
    },
    /** Lets the subject of a job go that was cancelled under this claim, so that the next one begins. */
    async release({ _id, claimToken }: JobDocument): Promise<void> {
      await jobs.updateOne({ _id, claimToken, status: 'CANCELLED' }, { $set: { claimedUntil: new Date(0) } })
    },
    /** Prolongs a claim, or gives it back by a time that has passed. False when somebody else has the job. */
    renew: (job: Job, until: Date) =>
      write(job, { $set: { claimedUntil: until } } as unknown as UpdateFilter<Job>),
    /** Writes progress. False when somebody else has the job. */
    progress: (job: Job, update: UpdateFilter<Job>) => write(job, update),
    /** Ends the job with its result. False when somebody else has it. */
    finish: (job: Job, result: MatchKeysAndValues<Job>, now: Date) =>
      write(job, { $set: { ...result, status: 'DONE', finishedAt: now } } as unknown as UpdateFilter<Job>),
  }
}
