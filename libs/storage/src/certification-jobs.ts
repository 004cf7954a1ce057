import { randomUUID } from 'node:crypto'
import type {
  CertificationEdges,
  ExchangeRequest,
  Exchanged,
} from '@pitboss/contracts/certification/exchange'
import { type CertificationProgress, endOf, newProgress } from '@pitboss/contracts/certification/progress'
import { recordExchanges } from '@pitboss/contracts/certification/record-exchanges'
import type { Peer } from '@pitboss/contracts/certification/http-cases'
import type { CertificationCase } from '@pitboss/contracts/certification/run-cases'
import { runCertification } from '@pitboss/contracts/certification/run-certification'
import type { Clock } from '@pitboss/runtime/clock'
import type { Db, UpdateFilter } from 'mongodb'
import { createJobStore, type JobDocument, type JobStore, type NewJob, newJob } from './job-store.ts'
import { openJobs } from './jobs.ts'
import type { HeldJob } from './start-job-workers.ts'

/** Who answers nothing in time would hold a place for hours. */
const runMaxMs = 15 * 60 * 1000
const lateText = 'It took longer than 15 minutes; the cases left were not run.'
const cancelledText = 'A person cancelled it; the cases left were not run.'

/** A certification of anything, as a job. Source: docs/contract.md, section 3. */
export type CertificationJob = JobDocument & CertificationProgress

type RunStore<Job extends CertificationJob> = Pick<JobStore<Job>, 'find' | 'progress' | 'finish'>

/** The fields that an ordered certification has, whatever it is of. */
export function newCertification(job: NewJob & { url: string; casesTotal: number }): CertificationJob {
  return { ...newJob(job), ...newProgress(job.url, job.casesTotal) }
}

/** Ends the job by the cases that are stored; who ended early is not certified. */
async function endCertification<Job extends CertificationJob>(
  jobs: RunStore<Job>,
  job: Job,
  reason: string | null,
  now: Date,
): Promise<void> {
  const stored = await jobs.find(job, job._id)
  // Safe: every certification has these fields.
  if (stored !== null) await jobs.finish(job, endOf(stored, reason) as Partial<Job>, now)
}

type JobOptions<Job extends CertificationJob> = Parameters<typeof openJobs<Job, 'cases'>>[0]
type Options<Job extends CertificationJob> = Omit<JobOptions<Job>, 'store' | 'kind' | 'cancelled'>

/** Opens a service's certifications, in the collection of that name. A cancelled one is not certified. */
export function openCertifications<Job extends CertificationJob>(db: Db, options: Options<Job>) {
  return openJobs<Job, 'cases'>({
    ...options,
    ...{ store: createJobStore(db.collection<Job>('certifications'), 'cases'), kind: 'certification' },
    // Safe: every certification has these fields.
    cancelled: (job) => endOf(job, cancelledText) as Partial<Job>,
  })
}

/**
 * Runs the cases of a claimed certification that are left, and stores each result. It ends the certification,
 * unless another process goes on with it. It ends early after 15 minutes, when what is certified has
 * changed, and as `runCertification` does.
 * @param find what is certified, as it was at the order; null when it is another by now
 * @param send called while the claim lasts
 * @param peerOf what the cases run against
 * @param onKept called when a result is stored
 */
export async function runCertificationJob<
  Job extends CertificationJob,
  Target extends { readonly secret: string },
  Context extends Peer,
>({
  jobs,
  held: { job, signal, mayTake },
  cases,
  find,
  send,
  peerOf,
  changedText,
  onKept,
  clock,
}: {
  jobs: RunStore<Job>
  held: HeldJob<Job>
  cases: ReadonlyArray<CertificationCase<Context>>
  find: () => Promise<Target | null>
  send: (target: Target, request: ExchangeRequest) => Promise<Exchanged>
  peerOf: (target: Target, edges: Omit<CertificationEdges, 'signing'>) => Context
  changedText: string
  onKept: () => Promise<void>
  clock: Clock
}): Promise<void> {
  const target = await find()
  if (target === null) return endCertification(jobs, job, changedText, clock.now())
  const recorder = recordExchanges(async (request) => {
    if (!mayTake(request.timeoutMs)) throw new Error('the certification goes on elsewhere')
    return send(target, request)
  }, target.secret)
  const ended = await runCertification({
    ...{ cases, done: job.cases, recorder, signal },
    context: peerOf(target, { post: recorder.post, now: () => clock.now(), newUuid: randomUUID }),
    async whyStop() {
      if ((await find()) === null) return changedText
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
  const reason = ended.reason ?? ((await find()) === null ? changedText : null)
  await endCertification(jobs, job, reason, clock.now())
}
