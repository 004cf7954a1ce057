import type { Movements } from './movements.ts'
import type { MovementDocument } from './movement-document.ts'

const epoch = new Date(0)
const pullPage = 500

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
    async pullForward(walletKey, now) {
      const waiting = {
        walletKey,
        dueAt: { $gt: now },
        // A movement that was tried since then keeps its new time.
        updatedAt: { $lte: now },
        status: 'PENDING',
        type: { $ne: 'BET' },
        call: null,
      } as const
      for (let pulled = 0; ; ) {
        const page = await collection
          .find(waiting)
          .project<{ _id: string }>({ _id: 1 })
          .sort({ dueAt: 1 })
          .hint('due')
          .limit(pullPage)
          .toArray()
        const ids = page.map(({ _id }) => _id)
        const { modifiedCount } = await collection.updateMany(
          { ...waiting, _id: { $in: ids } },
          { $set: { dueAt: now } },
        )
        pulled += modifiedCount
        if (page.length < pullPage) return pulled
      }
    },
  }
}
