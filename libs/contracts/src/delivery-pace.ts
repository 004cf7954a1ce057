/** How many deliveries of an endpoint may be in flight. Source: docs/contract.md, section 7. */

/** `successes` at this pace; so many as it is wide make it twice as wide. */
export type Pace = { readonly inFlight: number; readonly successes: number }

/** The pace after a breaker has closed, or a pause has ended. */
export const slowestPace: Pace = { inFlight: 1, successes: 0 }

const replayShare = 4

/** The pace after one more success, at most `inFlightMax` at the same time. */
export function fasterPace({ inFlight, successes }: Pace, inFlightMax: number): Pace {
  if (inFlight >= inFlightMax) return { inFlight: inFlightMax, successes: 0 }
  if (successes + 1 < inFlight) return { inFlight, successes: successes + 1 }
  return { inFlight: Math.min(inFlight * 2, inFlightMax), successes: 0 }
}

/** Slots that replay jobs may fill at the same time: a quarter, at least one. */
export function replaySlots(inFlight: number): number {
  return Math.max(1, Math.floor(inFlight / replayShare))
}

type Backlog = {
  /** Deliveries, 0 or more. */
  readonly count: number
  /** From the request to the answer. */
  readonly answerMs: number
  readonly inFlightMax: number
  readonly pace: Pace
  /** A replay job takes the slots of its lane alone. */
  readonly isReplay: boolean
}

/** Milliseconds until a backlog has gone out, when every attempt is accepted. Never throws. */
export function drainMs({ count, answerMs, inFlightMax, pace, isReplay }: Backlog): number {
  const slotsOf = ({ inFlight }: Pace) => (isReplay ? replaySlots(inFlight) : inFlight)
  let [left, ms, now] = [count, 0, pace]
  while (left > 0 && now.inFlight < inFlightMax) {
    const sent = Math.min(slotsOf(now), left)
    for (let each = 0; each < sent; each += 1) now = fasterPace(now, inFlightMax)
    left -= sent
    ms += answerMs
  }
  const slots = slotsOf({ inFlight: inFlightMax, successes: 0 })
  return ms + Math.ceil(left / slots) * answerMs
}
