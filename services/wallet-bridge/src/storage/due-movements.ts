import type { Scope } from '@pitboss/contracts/caller'
import type { Filter } from 'mongodb'
import { walletKeyOf } from '../rules/movement-keys.ts'
import { furthestWait, retrySteps } from '../rules/retry-schedule.ts'
import type { MovementDocument, Movements } from './movements.ts'

const epoch = new Date(0)

/** Reads the movements that are due. */
export type DueMovements = {
  /** The first wallet key after `after` with a movement due at `now`, or null. */
  nextWallet(after: string, now: Date): Promise<string | null>
  /** A wallet's due movements, longest due first. */
  ofWallet(walletKey: string, now: Date, limit: number): Promise<MovementDocument[]>
  /**
   * Makes a wallet's waiting credits and rollbacks due at once, a page at a time, the earliest first.
   * @returns the number of them
   */
  pullForward(walletKey: string, now: Date): Promise<number>
}

export function createDueMovements({ collection }: Movements): DueMovements {
  return {
    async nextWallet(after, now) {
      const found = await collection
        .find({ walletKey: { $gt: after }, dueAt: { $gt: epoch, $lte: now } })
        .project<{ walletKey: string }>({ walletKey: 1 })
        .sort({ walletKey: 1, dueAt: 1 })
        .hint('due')
        .limit(1)
        .next()
      return found?.walletKey ?? null
    },
    ofWallet: (walletKey, now, limit) =>
      collection
        .find({ walletKey, dueAt: { $gt: epoch, $lte: now } })
        .sort({ dueAt: 1 })
        .hint('due')
        .limit(limit)
        .toArray(),
    pullForward: (walletKey, now) =>
      makeDue(
        collection,
        {
          walletKey,
          dueAt: { $gt: now },
          // A movement that was tried since then keeps its new time.
          updatedAt: { $lte: now },
          status: 'PENDING',
          type: { $ne: 'BET' },
          call: null,
        },
        'due',
        now,
      ),
  }
}

/** The numbers of pending movements by age, and the oldest one. */
export type PendingFigures = {
  readonly all: number
  /** A rollback of a refused stake, which holds up nobody, counts after 15 minutes. */
  readonly over5m: number
  readonly over1h: number
  readonly over24h: number
  readonly oldest: Pick<MovementDocument, 'reference' | 'createdAt' | 'operatorId'> | null
}

export type PendingMovements = {
  /** Each figure counts up to 100,000. */
  figures(now: Date): Promise<PendingFigures>
  /**
   * Movements of a wallet that are not resolved, their reversals included; up to `max`, 100,000 unless told.
   */
  unresolved(scope: Scope, max?: number): Promise<number>
  /** The pending movement of a wallet that was made first. */
  oldestOf(scope: Scope): Promise<Pick<MovementDocument, 'transactionId' | 'createdAt'> | null>
  /**
   * Makes every credit and rollback due whose next try is later than its age allows, and everything that
   * waits longer than any age allows. Such waits come from an earlier build, which counted tries, and from
   * clocks that were ahead; nothing else looks at them.
   * @returns the number of them
   */
  endLongWaits(now: Date): Promise<number>
}

const minuteMs = 60_000
/** When a rollback of a refused stake is alarmed. Source: docs/contract.md, section 5. */
const ofRefusedAlarmMs = 15 * minuteMs
const countMax = 100_000
const page = 500
/** Clocks of replicas may differ by this much before a wait counts as too long. */
const slackMs = 2000

export function createPendingMovements(
  { collection }: Movements,
  scaleMs: (ms: number) => number,
): PendingMovements {
  const count = (now: Date, olderThanMs: number) => {
    const since: Filter<MovementDocument> =
      olderThanMs === 0 ? {} : { createdAt: { $lte: new Date(now.getTime() - olderThanMs) } }
    const quiet: Filter<MovementDocument> =
      olderThanMs === 0
        ? {}
        : {
            $or: [
              { ofRefused: { $exists: false } },
              { createdAt: { $lte: new Date(now.getTime() - Math.max(olderThanMs, ofRefusedAlarmMs)) } },
            ],
          }
    const older: Filter<MovementDocument> = { status: 'PENDING', ...since, ...quiet }
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
    async unresolved(scope, max = countMax) {
      const walletKey = walletKeyOf(scope)
      const pending = { walletKey, status: 'PENDING' } as const
      const reversed = { walletKey, dueAt: { $gt: epoch }, status: { $ne: 'PENDING' } } as const
      const counts = await Promise.all([
        collection.countDocuments(pending, { limit: max, hint: 'rare_status' }),
        collection.countDocuments(reversed, { limit: max, hint: 'due' }),
      ])
      return Math.min(counts[0] + counts[1], max)
    },
    oldestOf: (scope) =>
      collection
        .find({ walletKey: walletKeyOf(scope), status: 'PENDING' })
        .project<Pick<MovementDocument, 'transactionId' | 'createdAt'>>({ transactionId: 1, createdAt: 1 })
        .sort({ reference: 1 })
        .hint('rare_status')
        .limit(1)
        .next(),
    async endLongWaits(now) {
      const beyondAll = { dueAt: { $gt: furthestWait(now, scaleMs) } }
      const ended = await makeDue(collection, longWaits(now, scaleMs), 'pending', now)
      return ended + (await makeDue(collection, beyondAll, 'due', now))
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

/** Makes due what waits, a page at a time in the order of the index. @returns the number of movements */
async function makeDue(
  collection: Movements['collection'],
  waiting: Filter<MovementDocument>,
  index: string,
  now: Date,
): Promise<number> {
  for (let changed = 0; ; ) {
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
    if (found.length < page) return changed
  }
}
