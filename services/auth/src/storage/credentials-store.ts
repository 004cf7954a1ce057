import type { Scope } from '@pitboss/contracts/caller'
import { toSetup } from '@pitboss/contracts/environments'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Db } from 'mongodb'
import type { AccountScope, PageQuery } from './account.ts'
import { type CredentialDocument, untoldChange } from './documents.ts'
import { readPage } from './page.ts'

const notDeleted = { status: { $ne: 'DELETED' as const } }

/** Key pairs of accounts. */
export function createCredentialsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const credentials = db.collection<CredentialDocument>('credentials')
  const owned = ({ operatorId, environment }: Scope) => ({ operatorId, environment: toSetup(environment) })

  return {
    insert: async (credential: CredentialDocument): Promise<void> => {
      await credentials.insertOne(credential)
    },

    /** Null for one that is foreign or deleted. */
    find: (scope: Scope, apiKey: string) =>
      credentials.findOne({ _id: apiKey, ...owned(scope), ...notDeleted }),

    /** As `find`, also one whose deletion is not told to the gateways yet. */
    known: (scope: Scope, apiKey: string) => credentials.findOne({ _id: apiKey, ...owned(scope) }),

    /** Newest first. */
    page: (scope: Scope, { limit, cursor }: PageQuery) => {
      const { operatorId, environment } = owned(scope)
      return readPage({
        collection: credentials,
        filter: { operatorId, environment, ...notDeleted },
        order: 'order',
        limit,
        cursor,
        cursors,
        binding: ['credentials', operatorId, environment],
      })
    },

    /** Changes one so that the gateways have to be told. Null for one that is foreign or deleted. */
    change: (scope: Scope, apiKey: string, set: Partial<CredentialDocument>) =>
      credentials.findOneAndUpdate(
        { _id: apiKey, ...owned(scope), ...notDeleted },
        { $set: { ...set, ...untoldChange() } },
        { returnDocument: 'after' },
      ),

    /** Replaces the secret of an active one; null when it is not, or is foreign. */
    rotate: (scope: Scope, apiKey: string, secretHash: string, rotatedAt: Date) =>
      credentials.findOneAndUpdate(
        { _id: apiKey, ...owned(scope), status: 'ACTIVE' },
        { $set: { secretHash, rotatedAt } },
        { returnDocument: 'after' },
      ),

    /** The account's active key, of whichever environment. */
    active: ({ operatorId }: AccountScope, apiKey: string) =>
      credentials.findOne({ _id: apiKey, operatorId, status: 'ACTIVE' }),

    /** The key at or below: an unknown one reads a document too, so that time does not tell which keys exist. */
    nearest: (apiKey: string) => credentials.findOne({ _id: { $lte: apiKey } }, { sort: { _id: -1 } }),

    noteUse: async (apiKey: string, lastUsedAt: Date): Promise<void> => {
      await credentials.updateOne({ _id: apiKey }, { $set: { lastUsedAt } })
    },

    /** Whether the key is active with this secret at this moment. */
    async isCurrent(apiKey: string, secretHash: string): Promise<boolean> {
      const now = await credentials.findOne({ _id: apiKey }, { projection: { secretHash: 1, status: 1 } })
      return now?.status === 'ACTIVE' && now.secretHash === secretHash
    },

    /** Those of `apiKeys` that are not deleted. */
    async present(apiKeys: readonly string[]): Promise<Set<string>> {
      const found = await credentials
        .find({ _id: { $in: [...apiKeys] }, ...notDeleted }, { projection: { _id: 1 } })
        .toArray()
      return new Set(found.map(({ _id }) => _id))
    },

    /** Keys of changes that the gateways were not told of yet. */
    async untold(max: number): Promise<string[]> {
      const found = await credentials
        .find({ accessPending: true }, { projection: { _id: 1 } })
        .limit(max)
        .toArray()
      return found.map(({ _id }) => _id)
    },

    /** The record as it stands, of whichever account and status. */
    latest: (apiKey: string) => credentials.findOne({ _id: apiKey }),

    /** To be called with the record as it was before it was told. */
    told: async ({ _id, accessChange }: CredentialDocument): Promise<void> => {
      await credentials.updateOne(
        { _id, accessChange: accessChange ?? null },
        { $set: { accessPending: false } },
      )
    },

    removeDeleted: async (apiKey: string): Promise<void> => {
      await credentials.deleteOne({ _id: apiKey, status: 'DELETED' })
    },
  }
}
