import type { Db } from 'mongodb'
import { insertedFirst } from '../create-once.ts'

/** Of earlier builds, which prolonged their leases, with the owner's id of those. */
type LeaseDocument = { _id: string; owner: string | null; token: number; expiresAt?: Date }

export type InstanceLease = ReturnType<typeof createInstanceLease>

/**
 * Creates a named lease that an instance holds for as long as it lives: its heartbeat is the renewal.
 * @param isAlive whether an instance may still act; false is for ever
 */
export function createInstanceLease({
  db,
  name,
  isAlive,
}: {
  db: Db
  name: string
  isAlive: (instance: string) => Promise<boolean>
}) {
  const leases = db.collection<LeaseDocument>('leases')
  let heldBy: string | null = null

  async function take(self: string): Promise<boolean> {
    const seen = await leases.findOne({ _id: name })
    if (seen === null) return insertedFirst(() => leases.insertOne({ _id: name, owner: self, token: 1 }))
    if (seen.owner === self) return true
    if (seen.owner !== null && (await isAlive(seen.owner))) return false
    const { matchedCount } = await leases.updateOne(
      { _id: name, owner: seen.owner, token: seen.token },
      { $set: { owner: self }, $inc: { token: 1 }, $unset: { expiresAt: '' } },
    )
    return matchedCount === 1
  }

  return {
    /**
     * Takes the lease for this process's instance, unless another one that is alive has it. Costs nothing
     * while `self` has it.
     */
    async hold(self: string): Promise<boolean> {
      if (heldBy !== self) heldBy = (await take(self)) ? self : null
      return heldBy === self
    },
    /** Gives it back, if still held. Never rejects: others take it when its instance has ended. */
    async release(): Promise<void> {
      const owner = heldBy
      heldBy = null
      if (owner === null) return
      await leases.updateOne({ _id: name, owner }, { $set: { owner: null } }).catch(() => undefined)
    },
  }
}
