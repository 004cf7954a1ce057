import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { LogEnd } from './log-append.ts'

const scopesMax = 1000
const pointsMax = 64

/**
 * Creates a bisection for the number before the first event created at a time or later. The latest creation
 * time so far rises with the number and never changes, so what was read is remembered by scope.
 * @param readAt the first event with this number or a greater one
 */
export function createSeqSearch(readAt: (scope: Scope, seq: number) => Promise<LogEnd | null>) {
  const points = new BoundedMap<string, BoundedMap<number, number>>(scopesMax)

  /** Searches after `after` and up to `to`, whose `highAt` is at `from` or later. */
  return async function searchSeq(scope: Scope, from: Date, { after, to }: { after: number; to: number }) {
    const fromMs = from.getTime()
    const key = scopeKey(scope)
    const known = points.get(key) ?? new BoundedMap<number, number>(pointsMax)
    points.set(key, known)
    // Up to `low` all are earlier; the first event with the number `high` or a greater one is not.
    let [low, high] = [after, to]
    for (const [seq, highMs] of known.entries()) {
      if (highMs < fromMs) low = Math.max(low, seq)
      else if (seq > after) high = Math.min(high, seq)
    }
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const next = await readAt(scope, middle)
      if (next === null || next.highAt.getTime() >= fromMs) high = middle
      else low = next.seq
      if (next !== null) known.set(next.seq, next.highAt.getTime())
    }
    return high - 1
  }
}
