import type { ActedBy, AuditEntry } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import { conflict, ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { Poll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import { auditedInsert, type AuditOutbox } from './audit-outbox.ts'
import type { CursorCodec } from './cursor.ts'
import { findInScopes } from './find-in-scopes.ts'
import type { JobDocument, JobStore } from './job-store.ts'
import { type PageQuery, readPage } from './read-page.ts'
import { type HeldJob, startJobWorkers } from './start-job-workers.ts'

export type Jobs<Job extends JobDocument, Large extends keyof Job & string> = ReturnType<
  typeof openJobs<Job, Large>
>

/**
 * Opens the jobs of one kind: what people order, cancel and list, and workers of this process run.
 * @param kind as "certification"; names audit entries, lists and the log line of a failure
 * @param of added to the kind where a refusal cannot name the job that runs, as " of this wallet"
 * @param summary the public record without what is large
 * @param cancelled fields of a cancelled job besides its status and the time
 * @param placesMax most jobs at a time in this process
 */
export function openJobs<Job extends JobDocument, Large extends keyof Job & string>({
  store,
  kind,
  of = '',
  summary,
  cancelled,
  placesMax,
  audit,
  cursors,
  clock,
  clockAheadMs,
  logger,
}: {
  store: JobStore<Job, Large>
  kind: string
  of?: string
  summary: (job: Omit<Job, Large>) => Record<string, unknown>
  cancelled: (job: Job) => Partial<Job>
  placesMax: number
  audit: Pick<AuditOutbox, 'entry'>
  cursors: CursorCodec
  clock: Clock
  clockAheadMs: () => number
  logger: Logger
}) {
  let workers: Poll | null = null

  function underWay(running: Pick<JobDocument, '_id'> | null): ServiceError {
    const named = running === null ? `A ${kind}${of}` : `The ${kind} ${running._id}`
    return conflict(`${named} is under way. Wait for its end.`)
  }

  return {
    store,
    /** Stores a job that a person orders, wakes the workers. @throws ServiceError CONFLICT while one runs */
    async order(job: Job, by: ActedBy, audited: Pick<AuditEntry, 'act' | 'object'>): Promise<Job> {
      const entry = audit.entry(by, { ...audited, before: null, after: summary(job) })
      if (!(await store.insert({ ...job, ...auditedInsert(entry) })))
        throw underWay(await store.findRunning(job, job.subject))
      workers?.wake()
      return job
    },
    /** @throws ServiceError CONFLICT while a job of the subject runs */
    async assertNoneRuns(scope: Scope, subject: string): Promise<void> {
      const running = await store.findRunning(scope, subject)
      if (running !== null) throw underWay(running)
    },
    /** @param subject where not every job of the scopes is meant @throws ServiceError NOT_FOUND */
    find: (scopes: readonly Scope[], id: string, subject?: string): Promise<Job> =>
      findInScopes(scopes, async (scope) => {
        const job = await store.find(scope, id)
        return subject === undefined || job?.subject === subject ? job : null
      }),
    /**
     * Ends a job by a person's order; one that has ended stays as it is. Its worker can write nothing
     * afterwards.
     * @returns the job as it stands
     */
    async cancel(job: Job, by: ActedBy): Promise<Job> {
      if (job.status !== 'RUNNING') return job
      const [now, end] = [clock.now(), cancelled(job)]
      const entry = audit.entry(by, {
        ...{ act: `${kind}.cancel`, object: { type: kind, id: job._id }, before: summary(job) },
        after: summary({ ...job, ...end, status: 'CANCELLED', finishedAt: now }),
      })
      const after = await store.cancel(job, job._id, end, now, entry)
      return after ?? (await store.find(job, job._id)) ?? job
    },
    /** Newest first, without what is large. @throws ServiceError VALIDATION_ERROR for a bad cursor */
    list: (scope: Scope, subject: string, query: PageQuery) =>
      readPage({
        ...{ cursors, binding: [`${kind}s`, subject], query },
        read: (before, limit) => store.list(scope, subject, { before, limit }),
        positionOf: ({ _id }) => _id,
      }),
    /** Starts the workers. @param work see `startJobWorkers` */
    start(work: (held: HeldJob<Job>) => Promise<void>): Poll {
      const event = `${kind}.interrupted`
      workers = startJobWorkers({ jobs: store, work, placesMax, event, clock, clockAheadMs, logger })
      return workers
    },
  }
}
