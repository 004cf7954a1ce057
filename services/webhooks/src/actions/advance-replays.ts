import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Logger } from 'pino'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import type { ReplayDocument } from '../storage/documents.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { EventStore } from '../storage/event-store.ts'
import { type ReplayStore, runningMax } from '../storage/replay-store.ts'
import type { MarkDue } from './mark-due.ts'
import { countReplay } from './read-replays.ts'
import { againStatuses, selectPage } from './replay-selection.ts'

/** @returns true when there is more to do at once */
export type AdvanceReplays = (stopping: AbortSignal) => Promise<boolean>

/** Advances each replay job by one page. */
export function createAdvanceReplays({
  replays,
  events,
  deliveries,
  endpoints,
  markDue,
  clock,
  logger,
}: {
  replays: ReplayStore
  events: EventStore
  deliveries: DeliveryStore
  endpoints: EndpointStore
  markDue: MarkDue
  clock: Clock
  logger: Logger
}): AdvanceReplays {
  /**
   * Continues behind a full page of jobs: those of paused endpoints may wait for ever, and must not hold up
   * others.
   */
  let advancedTo = ''

  return async function advanceReplays(stopping) {
    // Counted first: a later job may take over what a cancelled one has sent.
    for (const job of await replays.uncounted()) await countCancelled(job)
    const jobs = await replays.running(advancedTo)
    advancedTo = jobs.length < runningMax ? '' : (jobs.at(-1)?._id ?? '')
    let more = advancedTo !== ''
    for (const job of jobs) {
      if (stopping.aborted) return false
      if (await advance(job)) more = true
    }
    return more
  }

  /**
   * Selects the next page of a job, or looks whether all its deliveries have ended. A page that is repeated
   * after a crash sends nothing twice. @returns true when there is more to do at once
   */
  async function advance(job: ReplayDocument): Promise<boolean> {
    const now = clock.now()
    const endpoint = await endpoints.known(job, job.webhookId)
    if (endpoint === null || endpoint.deletedAt !== null) {
      await replays.change(job, job._id, { status: 'CANCELLED', finishedAt: now, counted: false })
      return false
    }
    if (!job.selected) return selectNext(job, now)
    const { open, ...counts } = await countReplay(deliveries, job)
    await replays.change(job, job._id, !open ? { ...counts, status: 'DONE', finishedAt: now } : counts)
    if (!open) logger.info({ replay_id: job._id, ...counts }, 'replay.done')
    return false
  }

  async function selectNext(job: ReplayDocument, now: Date): Promise<boolean> {
    const page = await selectPage({ events, deliveries }, job, job.doneSeq)
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
    await markDue(webhookId)
    return still !== null
  }

  /**
   * Cancels what a cancelled job would still send, in case of a crash since it was cancelled, and counts what
   * was in flight then and has ended.
   */
  async function countCancelled(job: ReplayDocument): Promise<void> {
    await deliveries.cancelReplay(job._id)
    const { open, ...counts } = await countReplay(deliveries, job)
    await replays.count(job._id, counts, !open)
    if (!open) logger.info({ replay_id: job._id, ...counts }, 'replay.cancelled')
  }
}
