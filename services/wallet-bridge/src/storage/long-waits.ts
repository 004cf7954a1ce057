import type { Filter } from 'mongodb'
import { retrySteps } from '../rules/retry-schedule.ts'
import type { MovementDocument } from './movement-document.ts'
import type { Movements } from './movements.ts'

export type LongWaits = {
  /**
   * Makes every credit and rollback due whose next try is later than its age allows.
   * @returns the number of them
   */
  end(now: Date): Promise<number>
}

const page = 500
const pagesMax = 200
/** Clocks of replicas may differ by this much before a wait counts as too long. */
const slackMs = 2000

/**
 * Waits that today's rules do not make: an earlier build counted tries, or a clock was ahead. Nothing else
 * looks at such a movement before its wait is over.
 */
export function createLongWaits({ collection }: Movements, scaleMs: (ms: number) => number): LongWaits {
  return {
    async end(now) {
      const waiting = longWaits(now, scaleMs)
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

/** Delays grow with age: a wait that is too long for a step is too long for every younger movement. */
function longWaits(now: Date, scaleMs: (ms: number) => number): Filter<MovementDocument> {
  const after = (ms: number) => new Date(now.getTime() + ms)
  return {
    status: 'PENDING',
    type: { $ne: 'BET' },
    call: null,
    $or: retrySteps(scaleMs).map(({ untilAgeMs, delayMs }) => ({
      dueAt: { $gt: after(delayMs + slackMs) },
      ...(Number.isFinite(untilAgeMs) ? { createdAt: { $gt: after(-untilAgeMs) } } : {}),
    })),
  }
}
