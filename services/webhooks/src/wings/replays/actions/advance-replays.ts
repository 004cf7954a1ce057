import { scopeOf } from '@pitboss/contracts/caller'
import { failpoint } from '@pitboss/runtime/failpoint'
import { markDue } from '../../../clients/notify-workers.ts'
import type { DeliveryStatus } from '../../../storage/collections.ts'
import { deliveryIdOf, newDocument } from '../../../storage/new-delivery.ts'
import { countedElsewhere, deliveriesOf } from '../../../storage/range-items.ts'
import { countReplay, type ReplaysContext } from './order-replays.ts'
import { type ReplayDocument, runningMax } from '../storage/replay-store.ts'

/** Jobs of paused endpoints may wait for ever, so the next turn continues after a full page of them. */
type ReplayTurn = { advancedTo: string }

/** Advances each replay job by one page. @returns true when there is more to do at once */
export async function advanceReplays(c: ReplaysContext, turn: ReplayTurn, stopping: AbortSignal) {
  const { replays } = c
  // Counted first: a later job may take over what a cancelled one has sent.
  for (const job of await replays.uncounted()) await countCancelled(c, job)
  const jobs = await replays.running(turn.advancedTo)
  turn.advancedTo = jobs.length < runningMax ? '' : (jobs.at(-1)?._id ?? '')
  let more = turn.advancedTo !== ''
  for (const job of jobs) {
    if (stopping.aborted) return false
    if (await advance(c, job)) more = true
  }
  return more
}

/** Selects a job's next page, or ends it; a repeated page sends nothing twice. @returns true for more */
async function advance(c: ReplaysContext, job: ReplayDocument): Promise<boolean> {
  const { replays, logger } = c
  const now = c.clock.now()
  const endpoint = await c.endpoints.known(job, job.webhookId)
  if (endpoint === null || endpoint.deletedAt !== null) {
    await replays.change(job, job._id, { status: 'CANCELLED', finishedAt: now, counted: false })
    return false
  }
  if (!job.selected) return selectNext(c, job, now)
  const { open, ...counts } = await countReplay(c, job)
  await replays.change(job, job._id, !open ? { ...counts, status: 'DONE', finishedAt: now } : counts)
  if (!open) logger.info({ replay_id: job._id, ...counts }, 'replay.done')
  return false
}

async function selectNext(c: ReplaysContext, job: ReplayDocument, now: Date): Promise<boolean> {
  const { deliveries } = c
  const page = await selectPage(c, job, job.doneSeq, pageSize)
  const { operatorId, environment, webhookId, _id: replayId } = job
  const common = { operatorId, environment, webhookId, lane: 'replay', createdAt: now, replayId } as const
  const made = page.missing.map(({ _id, eventId, eventType }) =>
    newDocument({ _id, eventId, eventType, ...common }),
  )
  await deliveries.insertAbsent(made)
  await deliveries.insertAbsent(page.items.map(countedElsewhere))
  await deliveries.replayAgain(job, page.again, againStatuses[job.only], now)
  await failpoint('webhooks.replay-page')
  const still = await c.replays.change(job, replayId, { doneSeq: page.doneSeq, selected: page.end })
  if (still === null) await deliveries.cancelReplay(job)
  await markDue(c, webhookId)
  return still !== null
}

/** Cancels what a crash since the cancellation has left, and counts what was in flight then and has ended. */
async function countCancelled(c: ReplaysContext, job: ReplayDocument) {
  await c.deliveries.cancelReplay(job)
  const { open, ...counts } = await countReplay(c, job)
  await c.replays.count(job._id, counts, !open)
  if (!open) c.logger.info({ replay_id: job._id, ...counts }, 'replay.cancelled')
}

const pageSize = 500
const countPageSize = 2000

/** The statuses to send again, by `only`; not pending and held ones. Source: docs/contract.md, section 11. */
const againStatuses: Readonly<Record<ReplayDocument['only'], readonly DeliveryStatus[]>> = {
  missing: [],
  failed: ['FAILED'],
  all: ['FAILED', 'DELIVERED', 'CANCELLED'],
}

type ReplaySelector = Pick<
  ReplayDocument,
  'operatorId' | 'environment' | 'webhookId' | 'from' | 'to' | 'types' | 'only' | 'endSeq'
> & { readonly _id: string | null }

/** Selects a page of events after `afterSeq` that the job has not sent; `items`: those accepted at once. */
async function selectPage(c: ReplaysContext, job: ReplaySelector, afterSeq: number, limit: number) {
  const { webhookId, from, to } = job
  const types = job.types.length === 0 ? null : job.types
  const page = await c.events.headersAfter(scopeOf(job), afterSeq, limit, { types, from, to })
  const inRange = page.filter(({ seq }) => seq <= job.endSeq)
  const [first, last] = [inRange.at(0), inRange.at(-1)]
  if (first === undefined || last === undefined)
    return { missing: [], again: [], items: [], doneSeq: job.endSeq, end: true }
  // Read before the deliveries: what is passed meanwhile is on its way.
  const cursor = (await c.ranges.endOf(webhookId)) ?? 0
  const ids = new Set(inRange.map(({ id }) => id))
  const accepted = (await c.ranges.between(webhookId, first.seq, last.seq))
    .flatMap(deliveriesOf)
    .filter(({ eventId }) => ids.has(eventId))
  const wanted = inRange.map(({ id: eventId, type: eventType, seq, targets }) => {
    const isOnTheWay = seq > cursor && targets.includes(webhookId)
    return { _id: deliveryIdOf(eventId, webhookId), webhookId, eventId, eventType, isOnTheWay }
  })
  const existing = await c.deliveries.existing(wanted)
  const statuses = againStatuses[job.only]
  const again = [...existing.values()].filter(
    ({ status, replayId }) => statuses.includes(status) && (job._id === null || replayId !== job._id),
  )
  const items = statuses.includes('DELIVERED') ? accepted.filter(({ _id }) => !existing.has(_id)) : []
  const known = new Set([...existing.keys(), ...accepted.map(({ _id }) => _id)])
  const missing = wanted.filter(({ _id, isOnTheWay }) => !known.has(_id) && !isOnTheWay)
  return {
    missing: job.only === 'failed' ? [] : missing,
    again: [...again, ...items].map(({ _id }) => _id),
    items,
    doneSeq: last.seq,
    end: page.length < limit || inRange.length < page.length,
  }
}

export async function countSelection(c: ReplaysContext, job: ReplaySelector): Promise<number> {
  let matched = 0
  for (let seq = await c.events.seqBefore(scopeOf(job), job.from); seq < job.endSeq; ) {
    const page = await selectPage(c, job, seq, countPageSize)
    matched += page.missing.length + page.again.length
    if (page.end) break
    seq = page.doneSeq
  }
  return matched
}
