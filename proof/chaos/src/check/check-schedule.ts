import type { StubbornReceiver } from '../faults/stubborn-receiver.ts'
import { groupBy } from './group.ts'
import type { Delivery, DeliveryDetail } from './rows.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  failed: 'schedule: a delivery fails only after all of its schedule',
  next: 'schedule: a refused event is tried again as its age says',
  others: 'schedule: an event that is always refused holds up no other',
} as const

const s = 1000
const min = 60 * s
const h = 60 * min

/**
 * The schedule of docs/contract.md, section 7, written down a second time: a checker must not share the code
 * that it checks.
 */
const delaysMs = [0, 5 * s, 30 * s, 2 * min, 10 * min, 30 * min, h, 2 * h, 3 * h, 4 * h, 6 * h, 7 * h]
const wholeMs = 23 * h
const jitter = 0.1
/**
 * Tolerance between the end of an attempt and the instant from which its next one is counted: a process may
 * stand still there.
 */
const slackMs = 13 * s

/**
 * Checks an endpoint that refuses some events for ever: which others it got, and when it gets the refused
 * ones again. docs/contract.md, sections 7 and 12.
 */
export function checkSchedule(
  { events, deliveries, clockSlackMs }: Pick<Sources, 'events' | 'deliveries' | 'clockSlackMs'>,
  {
    details,
    stubborn,
    timeScale,
  }: {
    /** Attempts of every delivery that failed, and of every refused one. */
    details: readonly DeliveryDetail[]
    stubborn: Pick<StubbornReceiver, 'refused' | 'accepted' | 'refuses'> & { readonly webhookId: string }
    timeScale: number
  },
  verdict: Verdict,
): void {
  for (const delivery of details) {
    if (delivery.status === 'FAILED') {
      const triedMs = lastMs(delivery) - firstMs(delivery)
      verdict.check(
        names.failed,
        triedMs + clockSlackMs >= wholeMs / timeScale,
        () => `${show(delivery)} after ${triedMs} ms`,
      )
    }
  }
  const own = details.filter(({ webhook_id }) => webhook_id === stubborn.webhookId)
  for (const delivery of own.filter(({ event_id }) => stubborn.refused.has(event_id))) {
    const holds = delivery.status === 'FAILED' || isOnSchedule(delivery, timeScale, clockSlackMs)
    verdict.check(names.next, holds, () => `${show(delivery)}, next ${delivery.next_attempt_at}`)
  }
  const ours = groupBy(
    deliveries.filter(({ webhook_id }) => webhook_id === stubborn.webhookId),
    ({ event_id }) => event_id,
  )
  for (const event of events) {
    if (stubborn.refuses(event)) continue
    const { id } = event
    const [delivery, ...more] = ours.get(id) ?? []
    const arrived = delivery?.status === 'DELIVERED' && more.length === 0 && stubborn.accepted.has(id)
    verdict.check(names.others, arrived, () => `${id}: ${delivery === undefined ? 'none' : show(delivery)}`)
  }
}

/** Its next attempt is no further away than the step that belongs to the delivery's age. */
function isOnSchedule(delivery: DeliveryDetail, timeScale: number, clockSlackMs: number): boolean {
  const { status, attempts, next_attempt_at: nextAt } = delivery

  const last = attempts.at(-1)
  if (last === undefined || status !== 'PENDING' || nextAt === null) return false
  const endMs = lastMs(delivery) + (last.duration_ms ?? 0) + slackMs + clockSlackMs
  const ageMs = (endMs - firstMs(delivery)) * timeScale
  let offsetMs = 0
  let waitMs = 0
  for (const delayMs of delaysMs) {
    offsetMs += delayMs
    if (ageMs < offsetMs * (1 - jitter)) {
      waitMs = delayMs
      break
    }
  }
  return Date.parse(nextAt) - endMs <= (waitMs * (1 + jitter)) / timeScale
}

function firstMs({ attempts: [first], created_at }: DeliveryDetail): number {
  return Date.parse(first?.sent_at ?? created_at)
}

function lastMs(delivery: DeliveryDetail): number {
  const last = delivery.attempts.at(-1)
  return last === undefined ? firstMs(delivery) : Date.parse(last.sent_at)
}

function show({ delivery_id, webhook_id, event_id, status, attempt_count }: Delivery): string {
  return `${delivery_id} of ${event_id} to ${webhook_id} is ${status} after ${attempt_count} attempts`
}
