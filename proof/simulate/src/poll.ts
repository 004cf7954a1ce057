import { isExpected } from './is-expected.ts'
import type { Machine } from './machine.ts'
import type { Timeline } from './timeline.ts'

/**
 * Looks for work for as long as the machine lives, one look after the other. While nothing is due, the looks
 * that would find nothing are left out (`nextMs`: the next instant with something due), which changes nothing
 * but the time that a run takes.
 */
export function poll({
  machine,
  timeline,
  everyMs,
  nextMs,
  idleMsMax = 60_000,
  work,
}: {
  machine: Machine
  timeline: Timeline
  everyMs: number
  nextMs: () => number
  /** A look is left out for this long at most: what is due may come earlier than it was known. */
  idleMsMax?: number
  work: () => Promise<void>
}): void {
  const again = () => {
    const idleMs = Math.min(nextMs() - timeline.nowMs(), idleMsMax)
    machine.after(Math.max(everyMs, idleMs), look)
  }
  const look = () => {
    work().then(again, (error: unknown) => {
      if (!isExpected(error)) throw error
      again()
    })
  }
  machine.after(everyMs, look)
}
