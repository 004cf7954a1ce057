import type { Filter } from 'mongodb'
import { ladderRungs } from '../rules/retry-ladder.ts'
import type { MovementDocument } from './movement-document.ts'
import type { Movements } from './movements.ts'

export type OverlongWaits = {
  /**
   * Makes every credit and rollback due whose next try is further away than its age allows.
   * @returns how many.
   */
  end(now: Date): Promise<number>
}

const page = 500
const pagesMax = 200
/** Clocks of replicas may differ by this much before a wait counts as too long. */
const slackMs = 2000

/**
 * Waits that the rules of today don't make: left by a build that counted tries, or by a clock that was
 * ahead. Until such a wait is over nothing else would look at its movement.
 */
export function createOverlongWaits(
  { collection }: Movements,
  scaleMs: (ms: number) => number,
): OverlongWaits {
  return {
    async end(now) {
      const waiting = overlong(now, scaleMs)
      let ended = 0
      for (let pages = 1; pages <= pagesMax; pages++) {
        const found = await collection
          .find(waiting)
          .project<{ _id: string }>({ _id: 1 })
          .hint('pending')
          .limit(page)
          .toArray()
        const ids = found.map(({ _id }) => _id)
        const { modifiedCount } = await collection.updateMany(
          { ...waiting, _id: { $in: ids } },
          { $set: { dueAt: now } },
        )
        ended += modifiedCount
        if (found.length < page) break
      }
      return ended
    },
  }
}

/**
 * The younger a movement the sooner its next try: what is too far away for a rung is so for all that are
 * younger.
 */
function overlong(now: Date, scaleMs: (ms: number) => number): Filter<MovementDocument> {
  const after = (ms: number) => new Date(now.getTime() + ms)
  return {
    status: 'PENDING',
    type: { $ne: 'BET' },
    call: null,
    $or: ladderRungs(scaleMs).map(({ untilAgeMs, delayMs }) => ({
      dueAt: { $gt: after(delayMs + slackMs) },
      ...(Number.isFinite(untilAgeMs) ? { createdAt: { $gt: after(-untilAgeMs) } } : {}),
    })),
  }
}
