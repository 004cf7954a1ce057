import type { Clock } from '@pitboss/runtime/clock'
import { type Poll, startPoll } from '@pitboss/runtime/poll'
import { clockAgrees } from '@pitboss/runtime/while-clock-agrees'
import type { Logger } from 'pino'
import type { JobDocument, JobStore } from './job-store.ts'

/** How long a job of a process that died waits for another one. */
export const claimMs = 30_000
/** Clocks of two machines may differ by as much, and twice that is the reserve of a claim. */
const reserveMs = 3000
const renewEveryMs = 5000
/** Whoever orders a job wakes the workers of his process: a look finds what they did not take. */
const lookEveryMs = 5000
const lookAgainMs = 1000

/** A job in the hands of this process. */
export type HeldJob<Job> = {
  readonly job: Job
  /** Aborted when the process stops, and when somebody else may have the job. */
  readonly signal: AbortSignal
  /** Whether what takes `ms` ends before anybody else may begin. When not, the signal is aborted. */
  mayTake(ms: number): boolean
}

/**
 * Works on the jobs of a store, at most `placesMax` at a time in this process, whichever replica they were
 * asked at. A job whose work fails is taken up again when its claim has run out; at a stop it is given back
 * at once. The work on a job that a person cancels ends with its next write, or within `renewEveryMs`.
 * @param work brings the job to its end by the store, or returns early when the signal is aborted
 */
export function startJobWorkers<Job extends JobDocument>({
  jobs,
  work,
  placesMax,
  event,
  clock,
  clockAheadMs,
  logger,
}: {
  jobs: Pick<JobStore<Job>, 'claim' | 'renew' | 'release'>
  work: (held: HeldJob<Job>) => Promise<void>
  placesMax: number
  /** Name of the log line of a job whose work failed. */
  event: string
  clock: Clock
  clockAheadMs: () => number
  logger: Pick<Logger, 'error' | 'warn'>
}): Poll {
  const running = new Set<Promise<void>>()
  const stopped = new AbortController()
  const later = (ms: number) => new Date(clock.now().getTime() + ms)

  const poll = startPoll({
    ...{ event, everyMs: lookEveryMs, level: 'warn', logger },
    async work(stopping) {
      while (!stopping.aborted && running.size < placesMax && clockAgrees(clockAheadMs())) {
        const job = await jobs.claim(clock.now(), later(claimMs))
        if (job === null) return
        if (job === 'waits') return lookAgainMs
        const one = hold(job).finally(() => {
          running.delete(one)
          poll.wake()
        })
        running.add(one)
      }
    },
  })

  async function hold(job: Job): Promise<void> {
    const lost = new AbortController()
    const signal = AbortSignal.any([stopped.signal, lost.signal])
    let untilMs = job.claimedUntil.getTime()
    const renewal = startPoll({
      ...{ event, everyMs: renewEveryMs, level: 'warn', logger },
      async work() {
        const until = later(claimMs)
        if (until.getTime() < untilMs + renewEveryMs / 2) return
        if (clockAgrees(clockAheadMs()) && (await jobs.renew(job, until))) untilMs = until.getTime()
        else lost.abort()
      },
    })
    const mayTake = (ms: number) => {
      if (clock.now().getTime() + ms + reserveMs >= untilMs) lost.abort()
      return !signal.aborted
    }
    try {
      try {
        await work({ job, signal, mayTake })
      } finally {
        await renewal.stop()
        await jobs.release(job)
      }
      // After the last renewal, which would take the job back.
      if (stopped.signal.aborted && !lost.signal.aborted) await jobs.renew(job, new Date(0))
    } catch (err) {
      logger.error({ err, job_id: job._id }, event)
    }
  }

  return {
    wake: poll.wake,
    async stop() {
      stopped.abort()
      await poll.stop()
      await Promise.all(running)
    },
  }
}
