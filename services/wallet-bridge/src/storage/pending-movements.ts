import type { Filter } from 'mongodb'
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

export type PendingMovements = { figures(now: Date): Promise<PendingFigures> }

const minuteMs = 60_000
const countMax = 100_000

/** Counts pending movements, each figure up to 100,000. */
export function createPendingMovements({ collection }: Movements): PendingMovements {
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
  }
}
