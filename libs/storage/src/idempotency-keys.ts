import type { Caller, Scope } from '@pitboss/contracts/caller'
import { hashBody } from '@pitboss/contracts/json'
import { conflict, tryAgain } from '@pitboss/errors/service-error'
import type { Db } from 'mongodb'
import { insertedFirst } from './create-once.ts'
import type { IndexDeclaration } from './ensure-indexes.ts'

type KeyDocument = { _id: string; bodyHash: string; objectId: string; createdAt: Date }

const lifetimeS = 24 * 60 * 60
/** Time for which a claimed key keeps the id of the object that may still be made under it. */
export const idempotencyKeyLifetimeMs = lifetimeS * 1000
const attemptsMax = 3

/** Declare it with the service's collections. Keys are forgotten after 24 h. docs/contract.md, section 1. */
export const idempotencyKeyIndexes: Readonly<Record<'idempotency_keys', readonly IndexDeclaration[]>> = {
  idempotency_keys: [{ key: { createdAt: 1 }, name: 'created_at', expireAfterSeconds: lifetimeS }],
}

/** A key as a request to make an object in `list` carries it; `bodyHash` is that of the whole request. */
type KeyUse = { db: Db; scope: Scope; list: string; key: string; bodyHash: string; now: Date }

const keyId = (scope: Scope, list: string, key: string) =>
  `${scope.operatorId}/${scope.environment}/${list}/${key}`

/**
 * The object for which `key` was claimed already, or null: so that a repeat is answered as before even when
 * the checks of a creation would now refuse it. Claims nothing.
 * @throws ServiceError CONFLICT for the same key with another body.
 */
export async function peekIdempotencyKey({
  db,
  scope,
  list,
  key,
  bodyHash,
  now,
}: KeyUse): Promise<string | null> {
  const present = await db
    .collection<KeyDocument>('idempotency_keys')
    .findOne({ _id: keyId(scope, list, key) })
  if (present === null || now.getTime() - present.createdAt.getTime() >= idempotencyKeyLifetimeMs) return null
  return objectUnder(present, bodyHash)
}

/**
 * Claims `key` for the object about to be made in `list`. The first claim fixes the object's id: a repeat,
 * also after a crash, gets the same id and must insert the object under it if it is not there yet (`fresh` is
 * false then).
 * @throws ServiceError CONFLICT for the same key with another body.
 */
export async function claimIdempotencyKey({
  db,
  scope,
  list,
  key,
  bodyHash,
  newId,
  now,
}: KeyUse & { newId: () => string }): Promise<{ objectId: string; fresh: boolean }> {
  const keys = db.collection<KeyDocument>('idempotency_keys')
  const _id = keyId(scope, list, key)
  const claim = { _id, bodyHash, objectId: newId(), createdAt: now }
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const present = await keys.findOne({ _id })
    if (present === null) {
      if (await insertedFirst(() => keys.insertOne({ ...claim })))
        return { objectId: claim.objectId, fresh: true }
      continue
    }
    if (now.getTime() - present.createdAt.getTime() < idempotencyKeyLifetimeMs) {
      return { objectId: objectUnder(present, bodyHash), fresh: false }
    }
    // The database forgets expired keys in its own time, so an expired one may still be here.
    const { matchedCount } = await keys.replaceOne({ _id, createdAt: present.createdAt }, claim)
    if (matchedCount === 1) return { objectId: claim.objectId, fresh: true }
  }
  throw tryAgain(`the claim of ${list} kept losing`)
}

function objectUnder(present: KeyDocument, bodyHash: string): string {
  if (present.bodyHash === bodyHash) return present.objectId
  throw conflict('This Idempotency-Key was used with a different body.')
}

/** A creation under its caller's key. `list` names what is created; `body` is hashed, so it has no secret. */
type Creation = { readonly list: string; readonly body: unknown; readonly now: Date }
type Owner = Pick<Caller, 'scope' | 'idempotencyKey'>

export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>

/** The ids of what requests with an Idempotency-Key create. Source: docs/contract.md, section 1. */
export function createIdempotencyKeys({ db }: { db: Db }) {
  const useOf = ({ scope }: Owner, { list, body, now }: Creation) => {
    return { db, scope, list, now, bodyHash: hashBody(body) }
  }
  return {
    /** The id that was claimed under the caller's key; null for none. @throws as `peekIdempotencyKey` */
    async find(owner: Owner, creation: Creation): Promise<string | null> {
      const { idempotencyKey: key } = owner
      return key === null ? null : peekIdempotencyKey({ ...useOf(owner, creation), key })
    },

    /** A fresh id, or the first one when the caller repeats its key. @throws as `claimIdempotencyKey` */
    async claim(owner: Owner, creation: Creation & { readonly newId: () => string }) {
      const { idempotencyKey: key } = owner
      const { newId } = creation
      if (key === null) return { objectId: newId(), fresh: true }
      return claimIdempotencyKey({ ...useOf(owner, creation), key, newId })
    },

    /** Forgets the key of an object that is gone and must not be made again under its id. */
    async forget(objectId: string): Promise<void> {
      await db.collection<KeyDocument>('idempotency_keys').deleteMany({ objectId })
    },
  }
}
