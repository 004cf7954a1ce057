import type { Scope } from '@pitboss/contracts/caller'
import type { Filter } from 'mongodb'
import { walletKeyOf } from '../rules/movement-keys.ts'
import { furthestWait, retrySteps } from '../rules/retry-schedule.ts'
import type { MovementDocument } from './movement-document.ts'
import type { Movements } from './movements.ts'

/** The numbers of pending movements by age, and the oldest one. */
export type PendingFigures = {
  readonly all: number
  readonly over5m: number
  readonly over1h: number
  readonly over24h: number
  readonly oldest: Pick<MovementDocument, 'reference' | 'createdAt' | 'operatorId'> | null
}

export type PendingMovements = {
  /** Each figure counts up to 100,000. */
  figures(now: Date): Promise<PendingFigures>
  /** Movements of a wallet that are not resolved, their reversals included; up to 100,000. */
  unresolved(scope: Scope): Promise<number>
  /**
   * Makes every credit and rollback due whose next try is later than its age allows, and everything that
   * waits longer than any age allows. Such waits come from an earlier build, which counted tries, and from
   * clocks that were ahead; nothing else looks at them.
   * @returns the number of them
   */
  endLongWaits(now: Date): Promise<number>
}

const minuteMs = 60_000
const countMax = 100_000
const page = 500
const pagesMax = 200
/** Clocks of replicas may differ by this much before a wait counts as too long. */
const slackMs = 2000

export function createPendingMovements(
  { collection }: Movements,
  scaleMs: (ms: number) => number,
): PendingMovements {
  const count = (now: Date, olderThanMs: number) => {
    const since: Filter<MovementDocument> =
      olderThanMs === 0 ? {} : { createdAt: { $lte: new Date(now.getTime() - olderThanMs) } }
    const older: Filter<MovementDocument> = { status: 'PENDING', ...since }
    return collection.countDocuments(older, { limit: countMax, hint: 'pending' })
  }
  return {
    async figures(now) {
      const oldest = await collection
        .find({ status: 'PENDING' })
        .project<Pick<MovementDocument, 'reference' | 'createdAt' | 'operatorId'>>({
          reference: 1,
          createdAt: 1,
          operatorId: 1,
        })
        .sort({ reference: 1 })
        .hint('pending')
        .limit(1)
        .next()
      if (oldest === null) return { all: 0, over5m: 0, over1h: 0, over24h: 0, oldest: null }
      const all = await count(now, 0)
      const ageMs = now.getTime() - oldest.createdAt.getTime()
      const over5m = ageMs < 5 * minuteMs ? 0 : await count(now, 5 * minuteMs)
      const over1h = over5m === 0 ? 0 : await count(now, 60 * minuteMs)
      const over24h = over1h === 0 ? 0 : await count(now, 24 * 60 * minuteMs)
      return { all, over5m, over1h, over24h, oldest }
    },
    async unresolved(scope) {
      const walletKey = walletKeyOf(scope)
      const pending = { walletKey, status: 'PENDING' } as const
      const reversed = { walletKey, dueAt: { $gt: new Date(0) }, status: { $ne: 'PENDING' } } as const
      const counts = await Promise.all([
        collection.countDocuments(pending, { limit: countMax, hint: 'rare_status' }),
        collection.countDocuments(reversed, { limit: countMax, hint: 'due' }),
      ])
      return counts[0] + counts[1]
    },
    async endLongWaits(now) {
      const beyondAll = { dueAt: { $gt: furthestWait(now, scaleMs) } }
      return (await makeDue(longWaits(now, scaleMs), 'pending', now)) + (await makeDue(beyondAll, 'due', now))
    },
  }

  /** Makes due what waits, a page at a time. @returns the number of movements */
  async function makeDue(waiting: Filter<MovementDocument>, index: string, now: Date): Promise<number> {
    let changed = 0
    for (let pages = 1; pages <= pagesMax; pages++) {
      const found = await collection
        .find(waiting)
        .project<{ _id: string }>({ _id: 1 })
        .hint(index)
        .limit(page)
        .toArray()
      const ids = found.map(({ _id }) => _id)
      const { modifiedCount } = await collection.updateMany(
        { ...waiting, _id: { $in: ids } },
        { $set: { dueAt: now } },
      )
      changed += modifiedCount
      if (found.length < page) break
    }
    return changed
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
