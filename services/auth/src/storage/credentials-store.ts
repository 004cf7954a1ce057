import type { AuditEntry } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import type { ScopeName } from '@pitboss/contracts/objects/account'
import { toAccountMode, type AccountMode } from '@pitboss/contracts/primitives'
import { auditedUpdate, type WithAudit } from '@pitboss/storage/audit-outbox'
import { createOnce } from '@pitboss/storage/create-once'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Db } from 'mongodb'
import { type AccessSubject, accessChangesIn, type Changes, unpublishedChange } from './access-change.ts'
import { type AccountScope, type PageQuery, readPage } from './page.ts'

export type CredentialDocument = AccessSubject &
  WithAudit & {
    /** The api_key. */
    _id: string
    /** Pages are in this order, which is the order of creation. */
    order: string
    operatorId: string
    environment: AccountMode
    name: string
    secretHash: string
    scopes: string[]
    ipAllowlist: string[]
    status: 'ACTIVE' | 'REVOKED' | 'DELETED'
    createdAt: Date
    rotatedAt: Date | null
    revokedAt: Date | null
    lastUsedAt: Date | null
    /** Absent where an earlier release noted the last use. */
    lastUsedFrom?: string
    /** In the order of their first use; absent for none. */
    scopesUsed?: ScopeName[]
  }

const notDeleted = { status: { $ne: 'DELETED' as const } }

/** Key pairs of accounts. */
export function createCredentialsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const credentials = db.collection<CredentialDocument>('credentials')
  const owned = ({ operatorId, environment }: Scope) => ({
    operatorId,
    environment: toAccountMode(environment),
  })
  const known = (scope: Scope, apiKey: string) => credentials.findOne({ _id: apiKey, ...owned(scope) })

  return {
    ...accessChangesIn(db, 'credentials'),

    /** Inserts a key pair, or finds the one that is there under its api_key. */
    insertOnce(scope: Scope, credential: CredentialDocument) {
      const insert = () => credentials.insertOne(credential)
      const find = () => known(scope, credential._id)
      return createOnce({ document: credential, insert, find, name: 'a credential' })
    },

    /** Number of the account's keys in both environments, counted up to `most`. */
    count: ({ operatorId }: AccountScope, most: number) =>
      credentials.countDocuments({ operatorId, ...notDeleted }, { limit: most }),

    /** Null for a foreign or deleted key. */
    find: (scope: Scope, apiKey: string) =>
      credentials.findOne({ _id: apiKey, ...owned(scope), ...notDeleted }),

    /** As `find`, but also a key whose deletion is not published yet. */
    known,

    /** Newest first. */
    page: (scope: Scope, query: PageQuery) => {
      const { operatorId, environment } = owned(scope)
      return readPage({
        collection: credentials,
        filter: { operatorId, environment, ...notDeleted },
        order: 'order',
        query,
        cursors,
        binding: ['credentials', operatorId, environment],
      })
    },

    /** Sets fields; the change is unpublished afterwards. Null for a foreign or deleted key. */
    change: (scope: Scope, apiKey: string, set: Changes<CredentialDocument>, audit: AuditEntry) =>
      credentials.findOneAndUpdate(
        { _id: apiKey, ...owned(scope), ...notDeleted },
        auditedUpdate({ $set: unpublishedChange(set) }, audit),
        { returnDocument: 'after' },
      ),

    /** As `change`, of a key that is still as it was read, but for its last use. */
    changeSeen: (
      { _id, operatorId, environment, name, scopes, ipAllowlist, status, rotatedAt }: CredentialDocument,
      set: Changes<CredentialDocument>,
      audit: AuditEntry,
    ) =>
      credentials.findOneAndUpdate(
        { _id, operatorId, environment, name, scopes, ipAllowlist, status, rotatedAt },
        auditedUpdate({ $set: unpublishedChange(set) }, audit),
        { returnDocument: 'after' },
      ),

    /** Replaces the secret of an active key. Null for a foreign or inactive key. */
    rotate: (scope: Scope, apiKey: string, secretHash: string, rotatedAt: Date, audit: AuditEntry) =>
      credentials.findOneAndUpdate(
        { _id: apiKey, ...owned(scope), status: 'ACTIVE' },
        auditedUpdate({ $set: { secretHash, rotatedAt } }, audit),
        { returnDocument: 'after' },
      ),

    /** An active key of the account, of either environment. */
    active: ({ operatorId }: AccountScope, apiKey: string) =>
      credentials.findOne({ _id: apiKey, operatorId, status: 'ACTIVE' }),

    /**
     * The key at or below `apiKey`: an unknown key reads a document, too, so that time does not tell which
     * keys exist.
     */
    nearest: (apiKey: string) => credentials.findOne({ _id: { $lte: apiKey } }, { sort: { _id: -1 } }),

    noteUse: async (apiKey: string, lastUsedAt: Date, lastUsedFrom: string): Promise<void> => {
      await credentials.updateOne({ _id: apiKey }, { $set: { lastUsedAt, lastUsedFrom } })
    },

    /** Adds scopes to those that a key has used. */
    noteScopes: async (apiKey: string, scopes: readonly ScopeName[]): Promise<void> => {
      await credentials.updateOne({ _id: apiKey }, { $addToSet: { scopesUsed: { $each: [...scopes] } } })
    },

    /** Replaces a hash by another of the same secret, unless the secret was rotated in the meantime. */
    renewSecretHash: async (apiKey: string, former: string, secretHash: string): Promise<void> => {
      await credentials.updateOne({ _id: apiKey, secretHash: former }, { $set: { secretHash } })
    },

    /** The hash of the secret at this moment; null unless the key is active. */
    async activeHash(apiKey: string): Promise<string | null> {
      const now = await credentials.findOne({ _id: apiKey }, { projection: { secretHash: 1, status: 1 } })
      return now?.status === 'ACTIVE' ? now.secretHash : null
    },

    /** The keys of `apiKeys` that are not deleted, each with the scopes that it has used. */
    async present(apiKeys: readonly string[]): Promise<Map<string, readonly ScopeName[]>> {
      const found = await credentials
        .find({ _id: { $in: [...apiKeys] }, ...notDeleted }, { projection: { _id: 1, scopesUsed: 1 } })
        .toArray()
      return new Map(found.map(({ _id, scopesUsed = [] }) => [_id, scopesUsed]))
    },

    /** The document of a key of any account, status and environment. */
    latest: (apiKey: string) => credentials.findOne({ _id: apiKey }),

    /** Removes the document of a deleted key whose audit entries have moved. */
    removeDeleted: async (apiKey: string): Promise<void> => {
      await credentials.deleteOne({ _id: apiKey, status: 'DELETED', auditOutboxAt: null })
    },
  }
}
