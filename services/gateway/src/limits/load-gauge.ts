import { once } from '@pitboss/runtime/places'

/**
 * Overload of the gateway, and the order of shedding. Source: docs/contract.md, section 8; the thresholds are
 * ours, by configuration.
 */

/** `tail` is shed first, at half of the load of `read`, then `read`, then `stake`, `never` never. */
export type ShedClass = 'tail' | 'read' | 'stake' | 'never'

export type LoadGauge = {
  /** Whether a request of this class is to be refused now. */
  sheds(shedClass: ShedClass): boolean
  /** Marks a request as at work until the returned function is called (once). */
  enter(): () => void
  inFlight(): number
  stop(): void
}

const sampleMs = 50
/**
 * Part of the last reading that stays in the next one: one pause does not shed, one good sample does not
 * readmit.
 */
const decay = 0.8
/** Without a request at work for so long nothing is sampled: nobody waits for the event loop. */
const restsAfterMs = 2000
/** Part of the load of reads at which tails end. */
const tailPart = 0.5

export function createLoadGauge({
  readDelayMs,
  stakeDelayMs,
  readInFlightMax,
  stakeInFlightMax,
}: {
  readDelayMs: number
  stakeDelayMs: number
  readInFlightMax: number
  stakeInFlightMax: number
}): LoadGauge {
  let inFlight = 0
  let delayMs = 0
  let lastAtMs = 0
  let busyAtMs = 0
  let timer: NodeJS.Timeout | null = null

  function sample(): void {
    const nowMs = performance.now()
    const lateMs = Math.max(0, nowMs - lastAtMs - sampleMs)
    delayMs = decay * delayMs + (1 - decay) * lateMs
    lastAtMs = nowMs
    if (inFlight > 0) busyAtMs = nowMs
    else if (nowMs - busyAtMs > restsAfterMs) stop()
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer)
    timer = null
    delayMs = 0
  }

  return {
    sheds(shedClass) {
      if (shedClass === 'never') return false
      if (shedClass === 'stake') return delayMs > stakeDelayMs || inFlight > stakeInFlightMax
      const part = shedClass === 'tail' ? tailPart : 1
      return delayMs > part * readDelayMs || inFlight > part * readInFlightMax
    },
    enter() {
      inFlight += 1
      busyAtMs = performance.now()
      if (timer === null) {
        lastAtMs = busyAtMs
        timer = setInterval(sample, sampleMs).unref()
      }
      return once(() => {
        inFlight -= 1
      })
    },
    inFlight: () => inFlight,
    stop,
  }
}
