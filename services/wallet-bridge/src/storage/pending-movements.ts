import type { Scope } from '@pitboss/contracts/caller'
import type { Collection, Filter } from 'mongodb'
import { walletKeyOf } from '../rules/movement-keys.ts'
import { fromListed, type StoredMovement } from './listed-movements.ts'
import type { MovementDocument } from './movement-document.ts'

export type PendingFigures = {
  readonly all: number
  /** A rollback of a refused stake, which holds up nobody, counts after 15 minutes. */
  readonly over5m: number
  readonly over1h: number
  readonly over24h: number
  readonly oldest: Pick<MovementDocument, 'reference' | 'createdAt' | 'operatorId'> | null
}

const minuteMs = 60_000
/** When a rollback of a refused stake is alarmed. Source: docs/contract.md, section 5. */
const ofRefusedAlarmMs = 15 * minuteMs
const countMax = 100_000

export type PendingMovements = ReturnType<typeof createPendingMovements>

export function createPendingMovements({ collection }: { readonly collection: Collection<StoredMovement> }) {
  const count = (older: Filter<StoredMovement>) =>
    collection.countDocuments({ status: 'PENDING', ...older }, { limit: countMax, hint: 'pending' })
  const countOlder = (now: Date, olderThanMs: number) => {
    const before = (ms: number) => ({ createdAt: { $lte: new Date(now.getTime() - ms) } })
    const quiet = before(Math.max(olderThanMs, ofRefusedAlarmMs))
    return count({ ...before(olderThanMs), $or: [{ ofRefused: { $exists: false } }, quiet] })
  }
  const oldestOf = (filter: Filter<StoredMovement>, hint: string) =>
    collection.find(filter, { hint }).sort({ reference: 1 }).limit(1).map(fromListed).next()
  return {
    /** Each figure counts up to 100,000. */
    async figures(now: Date): Promise<PendingFigures> {
      const oldest = await oldestOf({ status: 'PENDING' }, 'pending')
      if (oldest === null) return { all: 0, over5m: 0, over1h: 0, over24h: 0, oldest: null }
      const all = await count({})
      const ageMs = now.getTime() - oldest.createdAt.getTime()
      const over5m = ageMs < 5 * minuteMs ? 0 : await countOlder(now, 5 * minuteMs)
      const over1h = over5m === 0 ? 0 : await countOlder(now, 60 * minuteMs)
      const over24h = over1h === 0 ? 0 : await countOlder(now, 24 * 60 * minuteMs)
      return { all, over5m, over1h, over24h, oldest }
    },
    /** Movements of a wallet that are not resolved, their reversals included; up to `max`. */
    async unresolved(scope: Scope, max = countMax): Promise<number> {
      const walletKey = walletKeyOf(scope)
      const pending = { walletKey, status: 'PENDING' } as const
      const reversed = { walletKey, open: true, status: { $ne: 'PENDING' } } as const
      const counts = await Promise.all([
        collection.countDocuments(pending, { limit: max, hint: 'rare_status' }),
        collection.countDocuments(reversed, { limit: max, hint: 'open' }),
      ])
      return Math.min(counts[0] + counts[1], max)
    },
    oldestOf: (scope: Scope) => oldestOf({ walletKey: walletKeyOf(scope), status: 'PENDING' }, 'rare_status'),
  }
}
