import type { Caller } from '@pitboss/contracts/caller'
import { hashBody } from '@pitboss/contracts/json'
import { claimIdempotencyKey, peekIdempotencyKey } from '@pitboss/storage/idempotency-keys'
import type { Db } from 'mongodb'

type KeyOwner = Pick<Caller, 'scope' | 'idempotencyKey'>
/** A creation under the caller's idempotency key; `list` names what is created. */
type Creation = { readonly list: string; readonly body: unknown; readonly now: Date }

export type KeysStore = ReturnType<typeof createKeysStore>

export function createKeysStore({ db }: { db: Db }) {
  const claimOf = ({ scope }: KeyOwner, { list, body, now }: Creation) => ({
    ...{ db, scope, list, now },
    bodyHash: hashBody(body),
  })

  return {
    /** The id claimed under the caller's key; null for none. @throws ServiceError CONFLICT for another */
    async find(caller: KeyOwner, creation: Creation): Promise<string | null> {
      const { idempotencyKey: key } = caller
      return key === null ? null : peekIdempotencyKey({ ...claimOf(caller, creation), key })
    },

    /** Claims an id under the caller's key, if any. @throws ServiceError CONFLICT for another body */
    async claim(caller: KeyOwner, creation: Creation, newId: () => string): Promise<string> {
      const { idempotencyKey: key } = caller
      if (key === null) return newId()
      return (await claimIdempotencyKey({ ...claimOf(caller, creation), key, newId })).objectId
    },
  }
}
