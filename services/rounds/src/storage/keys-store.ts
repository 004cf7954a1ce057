import type { Caller } from '@pitboss/contracts/caller'
import { hashBody } from '@pitboss/contracts/json'
import { claimIdempotencyKey, peekIdempotencyKey } from '@pitboss/storage/idempotency-keys'
import type { Db } from 'mongodb'

type KeyOwner = Pick<Caller, 'scope' | 'idempotencyKey'>
/** A creation under the caller's idempotency key; `list` names what is created. */
type Creation = { readonly list: string; readonly body: unknown; readonly now: Date }

export type KeysStore = ReturnType<typeof createKeysStore>

/** Creates the store of idempotency keys. A key is its tenant's and its list's alone. */
export function createKeysStore({ db }: { db: Db }) {
  const claimOf = ({ scope }: KeyOwner, { list, body, now }: Creation) => ({
    ...{ db, scope, list, now },
    bodyHash: hashBody(body),
  })

  return {
    /**
     * The id that was claimed under the caller's key; null for none, and without a key.
     * @throws ServiceError CONFLICT for the same key with another body
     */
    async find(caller: KeyOwner, creation: Creation): Promise<string | null> {
      const { idempotencyKey: key } = caller
      return key === null ? null : peekIdempotencyKey({ ...claimOf(caller, creation), key })
    },

    /**
     * The id for the object to be made, claimed under the caller's key if there is one.
     * @throws ServiceError CONFLICT for the same key with another body
     */
    async claim(caller: KeyOwner, creation: Creation, newId: () => string): Promise<string> {
      const { idempotencyKey: key } = caller
      if (key === null) return newId()
      return (await claimIdempotencyKey({ ...claimOf(caller, creation), key, newId })).objectId
    },
  }
}
