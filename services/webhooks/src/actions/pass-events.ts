import { addEvent, aheadMax, knownTo, noteEvent, sendableTo } from '../rules/passage.ts'
import { asideOf, openNarrowings, stuckWaitingMs, unstoredMsMax, waitingMsMax } from '../rules/put-aside.ts'
import {
  type AttemptRecord,
  type DeliveryDocument,
  type DueDelivery,
  type EndpointDocument,
  never,
} from '../storage/collections.ts'
import { claimedOf, newDue } from '../storage/new-delivery.ts'
import { logPageSize, newDeliveryOf, type Passing, type PassingContext } from './passing.ts'
import { readyRange, settle, storeAside } from './store-passing.ts'

/** New deliveries that are known and wait; more of them stay in the log. */
const waitingMax = 500

/** Reads events that are known of, as many as are kept in memory. */
export async function readOn(c: PassingContext, passing: Passing): Promise<void> {
  const { passage, leased, fresh } = passing
  while (knownTo(passage) < passing.endNoted && fresh.size < waitingMax) {
    const events = await c.tail.readAfter(passing.scope, knownTo(passage), logPageSize)
    if (events.length === 0) {
      // The log was set back, or what told of its end spoke of another.
      passing.endNoted = knownTo(passage)
      return
    }
    for (const event of events) {
      const isWanted = event.targets.includes(leased._id)
      addEvent(passage, isWanted)
      if (!isWanted) continue
      const due = newDue(newDeliveryOf(leased, event))
      fresh.set(due._id, { event, due })
    }
    if (readyRange(passing) !== null) settle(c, passing)
  }
}

/** New deliveries that may be sent now, in the order of the log. @param most so many of them */
export function sendable({ passage, fresh }: Passing, most: number): DueDelivery[] {
  const to = sendableTo(passage, aheadMax)
  const found: DueDelivery[] = []
  for (const { event, due } of fresh.values()) {
    if (event.seq > to || found.length >= most) break
    found.push(due)
  }
  return found
}

/** Notes that the first attempt at a delivery begins. @returns it, in flight, and what is sent */
export function sendFresh(
  { fresh, sent, passage, leased }: Passing,
  id: string,
  now: Date,
): { claimed: DueDelivery; body: string } | null {
  const one = fresh.get(id)
  if (one === undefined) return null
  const { event, due } = one
  const claimed = claimedOf(due, leased.leaseToken, now)
  fresh.delete(id)
  sent.set(id, { event, claimed, atMs: performance.now() })
  noteEvent(passage, event.seq, { kind: 'sent' })
  return { claimed, body: event.body }
}

/**
 * Stores what cannot be sent, and what is under way for long.
 * @param isStuck the endpoint keeps all its places for long: then what comes later goes along, many at a time
 * @returns in how many milliseconds that is to be looked at again; null while nothing waits
 */
export function putAside(
  c: PassingContext,
  passing: Passing,
  endpoint: EndpointDocument,
  isStuck: boolean,
): number | null {
  const { fresh, sent, passage } = passing
  const now = c.clock.now()
  const nowMs = performance.now()
  let againMs = Number.POSITIVE_INFINITY
  for (const { event, claimed, atMs } of sent.values()) {
    againMs = atMs + unstoredMsMax - nowMs
    if (againMs > 0) break
    void storeAside(c, passing, event.seq, { ...claimed, attempts: [] })
  }
  const [first] = fresh.values()
  const isDue = isStuck && first !== undefined && asideOf(endpoint, first.event, now) !== null
  const until = new Date(now.getTime() + (isDue ? waitingMsMax - stuckWaitingMs : 0))
  const isNarrowed = openNarrowings(endpoint.narrowings ?? [], passage.cursor).length > 0
  for (const { event, due } of fresh.values()) {
    const status = asideOf(endpoint, event, until)
    if (status === null) {
      againMs = Math.min(againMs, event.recordedAt.getTime() + waitingMsMax - now.getTime())
      if (isNarrowed) continue
      // Later ones wait for a shorter time.
      break
    }
    const ended = status === 'PENDING' ? {} : { status, dueAt: never, nextAttemptAt: null }
    void storeAside(c, passing, event.seq, { ...due, ...ended, attempts: [] })
  }
  return sent.size + fresh.size === 0 ? null : Math.max(1, againMs)
}

/**
 * Writes the outcome of a first attempt.
 * @returns false when another worker has made up for the delivery
 */
export async function completeFresh(
  c: PassingContext,
  passing: Passing,
  claimed: DueDelivery,
  fields: Partial<DeliveryDocument>,
  attempt: AttemptRecord,
): Promise<boolean> {
  const { sent, storing, accepted, passage } = passing
  const one = sent.get(claimed._id)
  if (passing.isLost) return false
  if (one !== undefined && fields.status === 'DELIVERED') {
    sent.delete(claimed._id)
    const { eventId, createdAt } = claimed
    const item = { eventId, eventType: one.event.type, createdAt, attempt }
    noteEvent(passage, one.event.seq, { kind: 'accepted', item })
    const end = Promise.withResolvers<boolean>()
    accepted.set(one.event.seq, end)
    if (accepted.size >= aheadMax / 2) passing.hurry.ring()
    settle(c, passing)
    return end.promise
  }
  const ended = { ...claimed, ...fields, claimToken: 0, claimedAt: null, attempts: [attempt] }
  if (one !== undefined) return stands(storeAside(c, passing, one.event.seq, ended))
  const under = storing.get(claimed._id)
  if (under !== undefined && !under.isWriting) {
    under.document = ended
    return stands(under.end.promise)
  }
  await under?.end.promise.catch(() => undefined)
  return passing.isLost ? false : c.deliveries.complete(claimed, fields, attempt)
}

function stands(stored: Promise<void>): Promise<boolean> {
  return stored.then(
    () => true,
    () => false,
  )
}
