import type { Scope } from '@pitboss/contracts/caller'
import { deliveryIdOf } from '../rules/delivery-id.ts'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import type { DeliveryDocument, DeliveryStatus, ReplayDocument } from '../storage/documents.ts'
import type { EventStore } from '../storage/event-store.ts'

const pageSize = 500
const countPageSize = 2000

/**
 * The statuses that a replay job sends again, by `only`; never pending and held ones. Source:
 * docs/contract.md, section 11.
 */
export const againStatuses: Readonly<Record<ReplayDocument['only'], readonly DeliveryStatus[]>> = {
  missing: [],
  failed: ['FAILED'],
  all: ['FAILED', 'DELIVERED', 'CANCELLED'],
}

export type ReplaySelector = Pick<
  ReplayDocument,
  'operatorId' | 'environment' | 'webhookId' | 'from' | 'to' | 'types' | 'only' | 'endSeq'
> & { readonly _id: string | null }

export type SelectedPage = {
  /** Events without a delivery to the endpoint. */
  readonly missing: { _id: string; eventId: string; eventType: DeliveryDocument['eventType'] }[]
  /** Deliveries to be sent again. */
  readonly again: string[]
  readonly doneSeq: number
  readonly end: boolean
}

/**
 * Selects one page of a job's events after `afterSeq`, in recording order, without those that the job has
 * sent already.
 */
export async function selectPage(
  { events, deliveries }: { events: EventStore; deliveries: DeliveryStore },
  job: ReplaySelector,
  afterSeq: number,
  limit = pageSize,
): Promise<SelectedPage> {
  const { webhookId, from, to } = job
  const scope: Scope = { operatorId: job.operatorId, environment: job.environment }
  const types = job.types.length === 0 ? null : job.types
  const page = await events.headers(scope, { types, from, to }, afterSeq, limit)
  const inRange = page.filter(({ seq }) => seq <= job.endSeq)
  const wanted = inRange.map((event) => ({
    _id: deliveryIdOf(event._id, webhookId, 0),
    eventId: event._id,
    eventType: event.type,
  }))
  const existing =
    wanted.length === 0 ? new Map<string, never>() : await deliveries.existing(wanted.map(({ _id }) => _id))
  const statuses = againStatuses[job.only]
  const again = [...existing.values()].filter(
    ({ status, replayId }) => statuses.includes(status) && (job._id === null || replayId !== job._id),
  )
  return {
    missing: job.only === 'failed' ? [] : wanted.filter(({ _id }) => !existing.has(_id)),
    again: again.map(({ _id }) => _id),
    doneSeq: inRange.at(-1)?.seq ?? job.endSeq,
    end: page.length < limit || inRange.length < page.length,
  }
}

/** Counts the deliveries that a job would create or send again. */
export async function countSelection(
  stores: { events: EventStore; deliveries: DeliveryStore },
  job: ReplaySelector,
): Promise<number> {
  const scope: Scope = { operatorId: job.operatorId, environment: job.environment }
  let matched = 0
  for (let seq = await stores.events.seqBefore(scope, job.from); seq < job.endSeq; ) {
    const page = await selectPage(stores, job, seq, countPageSize)
    matched += page.missing.length + page.again.length
    if (page.end) break
    seq = page.doneSeq
  }
  return matched
}
