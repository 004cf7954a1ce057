const tickMs = 200
/** A process whose tick is late by more has stood still. */
const lateMs = 500
/** Requests that waited for the end of a standstill are still read for so long after it. */
const backlogMs = 1000

export type ArrivalClock = {
  /** The earliest instant at which a request that is read now can have arrived, in ms since the epoch. */
  receivedAtMs(): number
  stop(): void
}

/**
 * Tells when requests arrived. A process that stands still (paused, or starved of processor time) reads
 * requests long after their clients have sent them; such a request counts as arrived when the standstill
 * began. Source: ours; docs/contract.md, section 12, "A definite answer is true for ever", depends on it.
 */
export function createArrivalClock(nowMs: () => number = Date.now): ArrivalClock {
  let tickedAtMs = nowMs()
  let backlog = { sinceMs: 0, untilMs: 0 }

  function tick(): number {
    const now = nowMs()
    if (now - tickedAtMs > tickMs + lateMs) backlog = { sinceMs: tickedAtMs, untilMs: now + backlogMs }
    tickedAtMs = now
    return now
  }

  const timer = setInterval(tick, tickMs)
  timer.unref()
  return {
    receivedAtMs() {
      const now = tick()
      return now < backlog.untilMs ? backlog.sinceMs : now
    },
    stop: () => clearInterval(timer),
  }
}
