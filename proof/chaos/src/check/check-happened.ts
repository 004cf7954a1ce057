import type { Verdict } from './verdict.ts'

const name = 'reach: everything that the run is for has happened'
/** From here on a run is long enough for all of it. */
export const longRunS = 300

/** Number of times that each interesting thing happened. */
export type Happened = Readonly<
  Record<
    'rollback' | 'tombstone' | 'lost call' | 'lease takeover' | 'reversal before record' | 'election',
    number
  >
>

/** A long run in which something never happened has shown nothing about it. */
export function checkHappened(happened: Happened, seconds: number, verdict: Verdict): void {
  if (seconds < longRunS) return
  for (const [what, times] of Object.entries(happened)) {
    verdict.check(name, times > 0, () => `there was no ${what}`)
  }
}
