import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Db } from 'mongodb'
import { type AccessSubject, accessChangesIn, unpublishedChange } from './access-change.ts'
import type { AccountScope, PageQuery } from './account.ts'
import { readPage } from './page.ts'

export type OperatorDocument = AccessSubject & {
  name: string
  plan: 'free' | 'paid'
  approved: boolean
  suspended: boolean
  livePlay: 'on' | 'off' | 'suspended'
  currencies: string[]
  timezone: string
  /** Ids of the active owners. This list decides who is an owner; it never becomes empty. */
  owners: string[]
  createdAt: Date
}

/** The accounts themselves; an account's id is its operator id. */
export function createOperatorsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const operators = db.collection<OperatorDocument>('operators')
  return {
    ...accessChangesIn(db, 'operators'),

    insert: async (operator: OperatorDocument): Promise<void> => {
      await operators.insertOne(operator)
    },

    /** Takes back the creation of an account. */
    remove: async ({ operatorId }: AccountScope): Promise<void> => {
      await operators.deleteOne({ _id: operatorId })
    },

    find: ({ operatorId }: AccountScope) => operators.findOne({ _id: operatorId }),

    /** All accounts, by id. */
    page: ({ limit, cursor }: PageQuery) =>
      readPage({
        collection: operators,
        filter: {},
        order: '_id',
        ascending: true,
        limit,
        cursor,
        cursors,
        binding: ['ops', 'operators'],
      }),

    /** Sets fields; the change is unpublished afterwards. */
    change: async ({ operatorId }: AccountScope, set: Partial<OperatorDocument> = {}): Promise<void> => {
      await operators.updateOne({ _id: operatorId }, { $set: { ...set, ...unpublishedChange() } })
    },

    /** Ids of the owners; empty for an unknown account. */
    owners: async ({ operatorId }: AccountScope): Promise<string[]> =>
      (await operators.findOne({ _id: operatorId }))?.owners ?? [],

    addOwner: async ({ operatorId }: AccountScope, userId: string): Promise<void> => {
      await operators.updateOne({ _id: operatorId }, { $addToSet: { owners: userId } })
    },

    /** Takes people off the list of owners who are no longer active. */
    removeInactiveOwners: async ({ operatorId }: AccountScope, userIds: readonly string[]): Promise<void> => {
      await operators.updateOne({ _id: operatorId }, { $pull: { owners: { $in: [...userIds] } } })
    },

    /**
     * Takes ownership from a person while there is another owner; the change is unpublished afterwards. False
     * when nothing changed.
     */
    async removeOwner({ operatorId }: AccountScope, userId: string): Promise<boolean> {
      const { matchedCount } = await operators.updateOne(
        { _id: operatorId, owners: userId, 'owners.1': { $exists: true } },
        { $pull: { owners: userId }, $set: unpublishedChange() },
      )
      return matchedCount === 1
    },
  }
}
