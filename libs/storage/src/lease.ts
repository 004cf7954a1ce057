import type { Clock } from '@pitboss/runtime/clock'
import { clockAgrees } from '@pitboss/runtime/while-clock-agrees'
import type { Db } from 'mongodb'
import type { IndexDeclaration } from './ensure-indexes.ts'
import { insertedFirst } from './create-once.ts'

type LeaseDocument = { _id: string; owner: string; expiresAt: Date; token: number }

/** Declare it with the service's collections. */
export const leaseIndexes: Readonly<Record<'leases', readonly IndexDeclaration[]>> = { leases: [] }

/**
 * Creates a named lease: at most one owner at a time, as long as clocks agree to within the time to live. A
 * process whose clock is wrong holds none: it would take those of others as run out, and its own would never
 * run out for them.
 * @param owner unique per process instance, never reused after a restart.
 */
export function createLease({
  db,
  name,
  owner,
  ttlMs,
  clock,
  clockAheadMs,
}: {
  db: Db
  name: string
  owner: string
  ttlMs: number
  clock: Clock
  /** How far the clock is ahead of the database's (negative: behind). */
  clockAheadMs: () => number
}) {
  const leases = db.collection<LeaseDocument>('leases')
  const expiry = (now: Date) => new Date(now.getTime() + ttlMs)

  return {
    /**
     * Takes the lease if it is free or has run out.
     * @returns the fencing token (greater than every earlier one; put it into what must not be written by a
     * stale owner), or null.
     */
    async acquire(): Promise<number | null> {
      if (!clockAgrees(clockAheadMs())) return null
      const now = clock.now()
      const taken = await leases.findOneAndUpdate(
        { _id: name, expiresAt: { $lte: now } },
        { $set: { owner, expiresAt: expiry(now) }, $inc: { token: 1 } },
        { returnDocument: 'after' },
      )
      if (taken !== null) return taken.token
      if ((await leases.findOne({ _id: name }, { projection: { _id: 1 } })) !== null) return null
      const lease = { _id: name, owner, expiresAt: expiry(now), token: 1 }
      return (await insertedFirst(() => leases.insertOne(lease))) ? lease.token : null
    },
    /** Prolongs it. False when it was lost: stop the work at once. */
    async renew(token: number): Promise<boolean> {
      if (!clockAgrees(clockAheadMs())) return false
      const now = clock.now()
      const fence = { _id: name, owner, token, expiresAt: { $gt: now } }
      const { matchedCount } = await leases.updateOne(fence, { $set: { expiresAt: expiry(now) } })
      return matchedCount === 1
    },
    /** Gives it back, if still held. */
    async release(token: number): Promise<void> {
      await leases.updateOne({ _id: name, owner, token }, { $set: { expiresAt: new Date(0) } })
    },
  }
}
