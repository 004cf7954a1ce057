import type { Caller } from '@pitboss/contracts/caller'
import { hashBody } from '@pitboss/contracts/json'
import { claimIdempotencyKey, forgetIdempotencyKeyOf } from '@pitboss/storage/idempotency-keys'
import type { Db } from 'mongodb'

/** The ids of records that a request with an Idempotency-Key creates. Source: docs/contract.md, section 1. */
export function createIdempotencyStore({ db }: { db: Db }) {
  return {
    /**
     * The id of the record to create: a fresh one, or the first one's when the caller repeats its key.
     * @param body is kept as a quick hash, so it must hold no password
     * @throws ServiceError CONFLICT for the same key with another body
     */
    async claim(
      { scope, idempotencyKey: key }: Pick<Caller, 'scope' | 'idempotencyKey'>,
      { list, body, newId, now }: { list: string; body: unknown; newId: () => string; now: Date },
    ): Promise<{ objectId: string; fresh: boolean }> {
      if (key === null) return { objectId: newId(), fresh: true }
      return claimIdempotencyKey({ db, scope, list, key, bodyHash: hashBody(body), newId, now })
    },

    /** Forgets the key under which a record was created, so that a repeat creates another record. */
    forget: (objectId: string) => forgetIdempotencyKeyOf(db, objectId),
  }
}
