import { createHash } from 'node:crypto'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { Db } from 'mongodb'

/** Time to keep a used signature; it is fresh for 300 s before and after its own time. */
const keepS = 1200

export const callbackIndexes: Readonly<Record<'callback_signatures', readonly IndexDeclaration[]>> = {
  callback_signatures: [{ key: { usedAt: 1 }, name: 'used_at', expireAfterSeconds: keepS }],
}

/** The used signatures of callbacks, the same for all replicas and over restarts. */
export type CallbackSignatures = {
  /** Marks a signature as used. @returns false when it was used before */
  use(walletKey: string, timestamp: string, signature: string, now: Date): Promise<boolean>
}

export function createCallbackSignatures(db: Db): CallbackSignatures {
  const collection = db.collection<{ _id: string; usedAt: Date }>('callback_signatures')
  return {
    async use(walletKey, timestamp, signature, now) {
      const _id = createHash('sha256').update(`${walletKey}\n${timestamp}\n${signature}`).digest('base64url')
      try {
        await collection.insertOne({ _id, usedAt: now })
        return true
      } catch (error) {
        if (isDuplicateKey(error)) return false
        throw error
      }
    },
  }
}
