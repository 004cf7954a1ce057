import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { FaultCounts } from './fault-counts.ts'

/** Parts that every source of faults gets. */
export type Disturber = {
  random: Random
  counts: FaultCounts
  /** Aborted when the run ends. */
  stopping: AbortSignal
  /** Writes a line of the run's diary. */
  note: (text: string) => void
}

/** Bounds of a random time, in ms. */
export type TimeRange = { readonly least: number; readonly most: number }

/** Waits so many ms, or until the run ends. */
export async function rest(ms: number, stopping: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: stopping }).catch(() => undefined)
}

/** Acts after a random rest, again and again, one act after the other, until the run ends. */
export async function disturbRepeatedly(
  { random, stopping }: Pick<Disturber, 'random' | 'stopping'>,
  { least, most }: TimeRange,
  act: () => Promise<void> | void,
): Promise<void> {
  while (!stopping.aborted) {
    await rest(random.between(least, most), stopping)
    if (!stopping.aborted) await act()
  }
}
