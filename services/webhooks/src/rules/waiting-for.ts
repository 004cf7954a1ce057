import { replaySlots, type Lane } from './claim-plan.ts'
import type { EndpointHealth, PauseReason } from './endpoint-health.ts'

const pauseTexts: Readonly<Record<PauseReason, string>> = {
  MANUAL: 'paused: by hand',
  FAILING: 'paused: nothing but failures for 24 hours',
  EXHAUSTED: 'paused: a delivery used up its attempts and nothing was accepted meanwhile',
  GONE: 'paused: 410 Gone',
}

type Waiting = {
  readonly status: string
  readonly lane: Lane
  /** When the attempt in flight began, or null. */
  readonly underWaySince: Date | null
  readonly dueAt: Date | null
  readonly attemptsMade: number
  readonly lastError: string | null
}

/**
 * Says in plain words why a delivery is not sent yet; null when it has ended.
 * @param probing the event that the breaker lets through next
 */
export function waitingFor({
  delivery,
  health,
  inFlight,
  replayInFlight,
  probing,
  now,
}: {
  delivery: Waiting
  health: EndpointHealth
  inFlight: number
  replayInFlight: number
  probing: string | null
  now: Date
}): string | null {
  const { pace, breaker, pauseReason } = health
  if (delivery.status === 'HELD') return pauseTexts[pauseReason ?? 'MANUAL']
  if (delivery.status !== 'PENDING') return null
  const next = delivery.attemptsMade + 1
  if (delivery.underWaySince !== null)
    return `attempt ${next} is under way since ${clockTime(delivery.underWaySince)}`
  if (breaker.probeAt !== null && delivery.lane !== 'manual') {
    return `breaker open until ${clockTime(breaker.probeAt)}${probing === null ? '' : `, probing with ${probing}`}`
  }
  if (delivery.dueAt !== null && delivery.dueAt > now) {
    const after = delivery.lastError === null ? '' : `, after ${delivery.lastError}`
    return `attempt ${next} is due at ${clockTime(delivery.dueAt)}${after}`
  }
  if (inFlight >= pace.inFlight) return `${inFlight} of ${pace.inFlight} in flight`
  if (delivery.lane === 'replay' && replayInFlight >= replaySlots(pace.inFlight)) {
    return `${replayInFlight} of ${replaySlots(pace.inFlight)} of the replay lane in flight`
  }
  return 'due now, next in line for a free worker'
}

/** The UTC time of day: `12:04:30`. */
function clockTime(at: Date): string {
  return at.toISOString().slice(11, 19)
}
