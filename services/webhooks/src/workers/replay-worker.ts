import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Lease } from '@pitboss/storage/lease'
import type { Logger } from 'pino'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import type { ReplayDocument } from '../storage/documents.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { EventStore } from '../storage/event-store.ts'
import { type ReplayStore, runningMax } from '../storage/replay-store.ts'
import { againStatuses, selectPage } from '../actions/replay-selection.ts'

export const replayLeaseTtlMs = 5000
const idleMs = 500

export type ReplayWorkerDeps = {
  readonly replays: ReplayStore
  readonly events: EventStore
  readonly deliveries: DeliveryStore
  readonly endpoints: EndpointStore
  readonly wake: (webhookIds: readonly string[]) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** A replay job's counts as they are now. A later job may have taken deliveries over, so they never fall. */
export async function replayCounts(
  deliveries: DeliveryStore,
  job: ReplayDocument,
): Promise<{ created: number; delivered: number; failed: number; open: boolean }> {
  const counts = await deliveries.countReplay(job._id)
  return {
    created: Math.max(job.created, counts.all),
    delivered: Math.max(job.delivered, counts.delivered),
    failed: Math.max(job.failed, counts.failed),
    open: counts.open,
  }
}

/**
 * One step of a job: the next page of its selection, or the look whether all of it has ended. Repeating a page, after a crash, sends
 * nothing twice. @returns true when there is more to do at once.
 */
async function stepReplay(deps: ReplayWorkerDeps, job: ReplayDocument): Promise<boolean> {
  const { replays, deliveries, endpoints, clock, logger } = deps
  const now = clock.now()
  const endpoint = await endpoints.known(job, job.webhookId)
  if (endpoint === null || endpoint.deletedAt !== null) {
    await replays.change(job, job._id, { status: 'CANCELLED', finishedAt: now, counted: false })
    return false
  }
  if (!job.selected) {
    const page = await selectPage(deps, job, job.doneSeq)
    const { operatorId, environment, webhookId } = job
    await deliveries.create(
      page.missing.map((one) => ({
        ...one,
        operatorId,
        environment,
        webhookId,
        lane: 'replay',
        createdAt: now,
        replayId: job._id,
      })),
    )
    await deliveries.replayAgain(page.again, againStatuses[job.only], job._id, now)
    await failpoint('webhooks.replay-page')
    const still = await replays.change(job, job._id, { doneSeq: page.doneSeq, selected: page.end })
    if (still === null) await deliveries.cancelReplay(job._id)
    await endpoints.lowerDue([webhookId], now)
    deps.wake([webhookId])
    return still !== null
  }
  const { open, ...counts } = await replayCounts(deliveries, job)
  await replays.change(job, job._id, !open ? { ...counts, status: 'DONE', finishedAt: now } : counts)
  if (!open) logger.info({ replay_id: job._id, ...counts }, 'replay.done')
  return false
}

/**
 * One look at a cancelled job: cancels what it would still send, also after a death since it was cancelled,
 * and counts what was in flight then and has ended.
 */
async function countCancelled({ replays, deliveries, logger }: ReplayWorkerDeps, job: ReplayDocument) {
  await deliveries.cancelReplay(job._id)
  const { open, ...counts } = await replayCounts(deliveries, job)
  await replays.count(job._id, counts, !open)
  if (!open) logger.info({ replay_id: job._id, ...counts }, 'replay.cancelled')
}

/** Works all replay jobs page by page in turn, on one replica at a time. */
export function startReplayWorker(deps: ReplayWorkerDeps & { lease: Lease }): {
  ring: () => void
  stop(): Promise<void>
} {
  const { lease, logger } = deps
  const stopping = new AbortController()
  let rung = new AbortController()
  let workedTo = ''
  const pause = async () => {
    await delay(idleMs, undefined, { signal: AbortSignal.any([stopping.signal, rung.signal]) }).catch(
      () => undefined,
    )
    rung = new AbortController()
  }

  /** Goes on behind a full page: jobs of paused endpoints may wait for ever, and must not hold up the later ones. */
  async function work(): Promise<boolean> {
    // Before a later job takes over what they have sent.
    for (const job of await deps.replays.uncounted()) await countCancelled(deps, job)
    const jobs = await deps.replays.running(workedTo)
    workedTo = jobs.length < runningMax ? '' : (jobs.at(-1)?._id ?? '')
    let more = workedTo !== ''
    for (const job of jobs) {
      if (stopping.signal.aborted) return false
      if (await stepReplay(deps, job)) more = true
    }
    return more
  }

  const loop = async () => {
    let token: number | null = null
    while (!stopping.signal.aborted) {
      let more = false
      try {
        if (token !== null && !(await lease.renew(token))) token = null
        token ??= await lease.acquire()
        if (token !== null) more = await work()
      } catch (err) {
        logger.warn({ err }, 'replay.interrupted')
      }
      if (!more) await pause()
    }
    if (token !== null)
      await lease.release(token).catch((err: unknown) => logger.warn({ err }, 'replay.lease'))
  }
  const done = loop()

  return {
    ring: () => rung.abort(),
    async stop() {
      stopping.abort()
      await done
    },
  }
}
