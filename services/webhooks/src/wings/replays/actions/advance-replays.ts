import { failpoint } from '@pitboss/runtime/failpoint'
import { markDue } from '../../../clients/notify-workers.ts'
import {
  type DeliveryDocument,
  type DeliveryStatus,
  type EventHeader,
  scopeFields,
} from '../../../storage/collections.ts'
import { deliveryIdOf, newDocument } from '../../../storage/new-delivery.ts'
import { countedElsewhere, deliveriesOf } from '../../../storage/range-items.ts'
import type { RangeStore } from '../../../storage/range-store.ts'
import { countReplay, type ReplaysContext } from './read-replays.ts'
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
  const page = await selectPage(c, job, job.doneSeq)
  const { operatorId, environment, webhookId, _id: replayId } = job
  const common = { operatorId, environment, webhookId, lane: 'replay', createdAt: now, replayId } as const
  await deliveries.insertAbsent(page.missing.map((one) => newDocument({ ...one, ...common })))
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

type Selecting = Pick<ReplaysContext, 'events' | 'deliveries' | 'ranges'>

type ReplaySelector = Pick<
  ReplayDocument,
  'operatorId' | 'environment' | 'webhookId' | 'from' | 'to' | 'types' | 'only' | 'endSeq'
> & { readonly _id: string | null }

type SelectedPage = {
  /** Events without a delivery to the endpoint. */
  readonly missing: { _id: string; eventId: string; eventType: DeliveryDocument['eventType'] }[]
  /** Deliveries to be sent again; those of them that were accepted at once. */
  readonly again: string[]
  readonly items: readonly DeliveryDocument[]
  readonly doneSeq: number
  readonly end: boolean
}

/** Selects one page of a job's events after `afterSeq`, without those that the job has sent already. */
async function selectPage(
  { events, deliveries, ranges }: Selecting,
  job: ReplaySelector,
  afterSeq: number,
  limit = pageSize,
): Promise<SelectedPage> {
  const { webhookId, from, to } = job
  const types = job.types.length === 0 ? null : job.types
  const page = await events.headersAfter(scopeFields(job), afterSeq, limit, { types, from, to })
  const inRange = page.filter(({ seq }) => seq <= job.endSeq)
  const wanted = inRange.map((event) => ({
    _id: deliveryIdOf(event.id, webhookId),
    webhookId,
    eventId: event.id,
    eventType: event.type,
  }))
  // Read before the deliveries: what is passed meanwhile is on its way.
  const { cursor, items } = await itemsAmong(ranges, webhookId, inRange)
  const existing = await deliveries.existing(wanted)
  const onTheWay = new Set(
    inRange.flatMap(({ id, seq, targets }) => (targets.includes(webhookId) && seq > cursor ? [id] : [])),
  )
  const statuses = againStatuses[job.only]
  const again = [...existing.values()].filter(
    ({ status, replayId }) => statuses.includes(status) && (job._id === null || replayId !== job._id),
  )
  const accepted = [...items.values()].filter(({ _id }) => !existing.has(_id))
  const delivered = statuses.includes('DELIVERED') ? accepted : []
  const missing = wanted.filter(
    ({ _id, eventId }) => !existing.has(_id) && !items.has(_id) && !onTheWay.has(eventId),
  )
  return {
    missing: job.only === 'failed' ? [] : missing,
    again: [...again, ...delivered].map(({ _id }) => _id),
    items: delivered,
    doneSeq: inRange.at(-1)?.seq ?? job.endSeq,
    end: page.length < limit || inRange.length < page.length,
  }
}

/** The deliveries of these events that were accepted at once, by id, and how far the log is passed. */
async function itemsAmong(
  ranges: Pick<RangeStore, 'between' | 'endOf'>,
  webhookId: string,
  events: readonly Pick<EventHeader, 'id' | 'seq'>[],
): Promise<{ cursor: number; items: Map<string, DeliveryDocument> }> {
  const [first, last] = [events.at(0), events.at(-1)]
  if (first === undefined || last === undefined) return { cursor: 0, items: new Map() }
  const cursor = (await ranges.endOf(webhookId)) ?? 0
  const ids = new Set(events.map(({ id }) => id))
  const found = (await ranges.between(webhookId, first.seq, last.seq)).flatMap(deliveriesOf)
  return { cursor, items: new Map(found.flatMap((one) => (ids.has(one.eventId) ? [[one._id, one]] : []))) }
}

export async function countSelection(c: Selecting, job: ReplaySelector): Promise<number> {
  let matched = 0
  for (let seq = await c.events.seqBefore(scopeFields(job), job.from); seq < job.endSeq; ) {
    const page = await selectPage(c, job, seq, countPageSize)
    matched += page.missing.length + page.again.length
    if (page.end) break
    seq = page.doneSeq
  }
  return matched
}
