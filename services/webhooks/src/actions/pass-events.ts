import { addEvent, aheadMax, knownTo, noteEvent, sendableTo } from '../rules/passage.ts'
import { asideOf, unstoredMsMax } from '../rules/subscription.ts'
import type { AttemptRecord, DeliveryDocument, DueDelivery } from '../storage/collections.ts'
import { asideAs, claimedOf, newDueOf } from '../storage/new-delivery.ts'
import type { EndpointRun, RunContext } from './endpoint-run.ts'
import { readyRange, settle, storeAside } from './store-passing.ts'

/** Reads events that are known of. @param most so many deliveries are kept in memory; more stay in the log */
export async function readOn(c: RunContext, run: EndpointRun, most: number): Promise<void> {
  const { passage, webhookId, fresh, storing } = run
  while (knownTo(passage) < run.endNoted) {
    const free = most - fresh.size - storing.size
    if (free < most / 2) return
    const events = await c.tail.readAfter(run.scope, knownTo(passage), free)
    if (events.length === 0) {
      // The log was set back, or the note of its end was about another log.
      run.endNoted = knownTo(passage)
      return
    }
    for (const event of events) {
      const isWanted = event.targets.includes(webhookId)
      addEvent(passage, isWanted)
      if (!isWanted) continue
      const due = newDueOf(webhookId, event)
      fresh.set(due._id, { event, due })
    }
    if (readyRange(run) !== null) settle(c, run)
  }
}

/** @param most so many, in the order of the log */
export function sendable({ passage, fresh }: EndpointRun, most: number): DueDelivery[] {
  const to = sendableTo(passage, aheadMax)
  const found: DueDelivery[] = []
  for (const { event, due } of fresh.values()) {
    if (event.seq > to || found.length >= most) break
    found.push(due)
  }
  return found
}

export function sendFresh(run: EndpointRun, id: string, now: Date) {
  const one = run.fresh.get(id)
  if (one === undefined) return null
  const { event, due } = one
  const claimed = claimedOf(due, run.token, now)
  run.fresh.delete(id)
  run.sent.set(id, { event, claimed, atMs: performance.now() })
  noteEvent(run.passage, event.seq, { kind: 'sent' })
  return { delivery: claimed, body: event.body }
}

/** Stores what cannot be sent, and what is long under way. @returns ms until due again; null for not */
export function putAside(c: RunContext, run: EndpointRun): number | null {
  const nowMs = performance.now()
  const endpoint = run.view.endpoint()
  for (const { event, due } of run.fresh.values()) {
    const status = asideOf(endpoint, event)
    if (status !== null) void storeAside(c, run, event.seq, asideAs(due, status))
  }
  for (const { event, claimed, atMs } of run.sent.values()) {
    const leftMs = atMs + unstoredMsMax - nowMs
    if (leftMs > 0) return Math.max(1, leftMs)
    void storeAside(c, run, event.seq, { ...claimed, attempts: [] })
  }
  return null
}

/** Writes the outcome of a first attempt. @returns false when another worker has made up for the delivery */
export async function completeFresh(
  c: RunContext,
  run: EndpointRun,
  claimed: DueDelivery,
  fields: Partial<DeliveryDocument>,
  attempt: AttemptRecord,
): Promise<boolean> {
  const { sent, storing, accepted, passage } = run
  const one = sent.get(claimed._id)
  if (run.isLost) return false
  if (one !== undefined && fields.status === 'DELIVERED') {
    sent.delete(claimed._id)
    const { eventId, createdAt } = claimed
    const { seq, type: eventType } = one.event
    noteEvent(passage, seq, { kind: 'accepted', item: { eventId, eventType, createdAt, attempt } })
    const end = Promise.withResolvers<boolean>()
    accepted.set(seq, end)
    if (accepted.size >= aheadMax / 2) run.hurry.ring()
    settle(c, run)
    return end.promise
  }
  const ended = { ...claimed, ...fields, claimToken: 0, claimedAt: null, attempts: [attempt] }
  if (one !== undefined) return storeAside(c, run, one.event.seq, ended)
  const under = storing.get(claimed._id)
  if (under !== undefined && !under.isWriting) {
    under.document = ended
    return under.end.promise
  }
  await under?.end.promise
  return run.isLost ? false : c.deliveries.complete(claimed, fields, attempt)
}
