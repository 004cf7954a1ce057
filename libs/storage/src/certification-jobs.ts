import type { AuditEntry } from '@pitboss/contracts/audit'
import { type CertificationProgress, endOf, newProgress } from '@pitboss/contracts/certification/progress'
import type { Recorder } from '@pitboss/contracts/certification/record-exchanges'
import type { Peer } from '@pitboss/contracts/certification/http-cases'
import type { CertificationCase } from '@pitboss/contracts/certification/run-cases'
import { runCertification } from '@pitboss/contracts/certification/run-certification'
import type { Clock } from '@pitboss/runtime/clock'
import type { UpdateFilter } from 'mongodb'
import { cancelJob, type JobDocument, type JobStore, jobUnderWay, newJob } from './job-store.ts'
import type { HeldJob } from './start-job-workers.ts'

/** Who answers nothing in time would hold a place for hours. */
const runMaxMs = 15 * 60 * 1000
const lateText = 'It took longer than 15 minutes; the cases left were not run.'
const cancelledText = 'A person cancelled it; the cases left were not run.'

/** A certification of anything, as a job. Source: docs/contract.md, section 3. */
export type CertificationJob = JobDocument & CertificationProgress

/** The fields that an ordered certification has, whatever it is of. */
export function newCertification({
  url,
  casesTotal,
  ...job
}: Parameters<typeof newJob>[0] & { url: string; casesTotal: number }): CertificationJob {
  return { ...newJob(job), ...newProgress(url, casesTotal) }
}

/** @throws ServiceError CONFLICT while one of the subject runs, which it names */
export async function orderCertification<Job extends CertificationJob>(
  jobs: JobStore<Job>,
  job: Job,
  what: 'wallet' | 'endpoint',
): Promise<void> {
  if (await jobs.insert(job)) return
  throw jobUnderWay('certification', await jobs.findRunning(job, job.subject), `of this ${what}`)
}

/** Ends the job by the cases that are stored; who ended early is not certified. */
export async function endCertification<Job extends CertificationJob>(
  jobs: JobStore<Job>,
  job: Job,
  reason: string | null,
  now: Date,
): Promise<void> {
  const stored = await jobs.find(job, job.subject, job._id)
  // Safe: every certification has these fields.
  if (stored !== null) await jobs.finish(job, endOf(stored, reason) as Partial<Job>, now)
}

/** As `cancelJob`; a cancelled one is not certified. */
export function cancelCertification<Job extends CertificationJob>(
  jobs: JobStore<Job>,
  job: Job,
  now: Date,
  entryOf: (after: Job) => AuditEntry,
): Promise<Job> {
  // Safe: every certification has these fields.
  return cancelJob(jobs, job, endOf(job, cancelledText) as Partial<Job>, now, entryOf)
}

/**
 * Runs the cases of a held certification that are left, keeps each result as it comes, and ends it, unless it
 * has to go on elsewhere. It ends early after 15 minutes, when what is certified has changed, and as
 * `runCertification` does.
 * @param isUnchanged whether it is still what was there at the order
 * @param onKept called when a result is stored
 */
export async function runCertificationJob<Job extends CertificationJob, Context extends Peer>({
  jobs,
  held: { job, signal },
  cases,
  context,
  recorder,
  isUnchanged,
  changedText,
  onKept,
  clock,
}: {
  jobs: JobStore<Job>
  held: HeldJob<Job>
  cases: ReadonlyArray<CertificationCase<Context>>
  context: Context
  recorder: Recorder
  isUnchanged: () => Promise<boolean>
  changedText: string
  onKept: () => Promise<void>
  clock: Clock
}): Promise<void> {
  const ended = await runCertification({
    ...{ cases, done: job.cases, context, recorder, signal },
    async whyStop() {
      if (!(await isUnchanged())) return changedText
      return clock.now().getTime() - job.createdAt.getTime() > runMaxMs ? lateText : null
    },
    async keep(result) {
      const update = { $push: { cases: result }, $inc: { [`counts.${result.outcome}`]: 1 } }
      // Safe: every certification has these fields.
      const isKept = await jobs.progress(job, update as unknown as UpdateFilter<Job>)
      await onKept()
      return isKept
    },
  })
  if (ended === null) return
  const reason = ended.reason ?? ((await isUnchanged()) ? null : changedText)
  await endCertification(jobs, job, reason, clock.now())
}
