import { addEvent, knownTo, noteEvent, sendableTo } from '../rules/passage.ts'
import { asideOf, stuckWaitingMs, unstoredMsMax, waitingMsMax } from '../rules/put-aside.ts'
import {
  type AttemptRecord,
  type DeliveryDocument,
  type DueDelivery,
  type EndpointDocument,
  never,
} from '../storage/collections.ts'
import { newClaimed, newDocument } from '../storage/new-delivery.ts'
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
      const delivery = newDeliveryOf(leased, event)
      const { attempts: _, ...due } = newDocument(delivery)
      fresh.set(delivery._id, { event, delivery, due, sent: null })
    }
    if (readyRange(passing) !== null) settle(c, passing)
  }
}

/** New deliveries that may be sent now, in the order of the log. @param ahead so many after the cursor */
export function sendable({ passage, fresh }: Passing, ahead: number): DueDelivery[] {
  const to = sendableTo(passage, ahead)
  return [...fresh.values()].flatMap(({ event, due, sent }) =>
    sent === null && event.seq <= to ? [due] : [],
  )
}

/** Notes that the first attempt at a delivery begins. @returns it, in flight, and what is sent */
export function sendFresh(
  { fresh, passage, leased }: Passing,
  id: string,
  now: Date,
): { claimed: DueDelivery; body: string } | null {
  const one = fresh.get(id)
  if (one === undefined) return null
  const claimed = newClaimed(one.delivery, leased.leaseToken, now)
  one.sent = { claimed, atMs: performance.now() }
  noteEvent(passage, one.event.seq, { kind: 'sent' })
  return { claimed, body: one.event.body }
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
  const now = c.clock.now()
  const nowMs = performance.now()
  const all = [...passing.fresh.values()]
  let againMs: number | null = null
  const again = (ms: number) => void (againMs = Math.min(againMs ?? ms, Math.max(1, ms)))
  const isDue =
    isStuck && all.some(({ event, sent }) => sent === null && asideOf(endpoint, event, now) !== null)
  const until = new Date(now.getTime() + (isDue ? waitingMsMax - stuckWaitingMs : 0))
  for (const { event, due, sent } of all) {
    if (sent !== null) {
      const leftMs = sent.atMs + unstoredMsMax - nowMs
      if (leftMs > 0) again(leftMs)
      else void storeAside(c, passing, event.seq, { ...sent.claimed, attempts: [] })
      continue
    }
    const status = asideOf(endpoint, event, until)
    if (status === null) {
      again(event.recordedAt.getTime() + waitingMsMax - now.getTime())
      continue
    }
    const ended = status === 'PENDING' ? {} : { status, dueAt: never, nextAttemptAt: null }
    void storeAside(c, passing, event.seq, { ...due, ...ended, attempts: [] })
  }
  return againMs
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
  const { fresh, storing, accepted, passage } = passing
  const one = fresh.get(claimed._id)
  if (passing.isLost) return false
  if (one !== undefined && fields.status === 'DELIVERED') {
    fresh.delete(claimed._id)
    const { eventId, createdAt } = claimed
    const item = { eventId, eventType: one.event.type, createdAt, attempt }
    noteEvent(passage, one.event.seq, { kind: 'accepted', item })
    const end = Promise.withResolvers<boolean>()
    accepted.set(one.event.seq, end)
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
