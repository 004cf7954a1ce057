import type { Role } from '@pitboss/contracts/caller'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Db } from 'mongodb'
import type { AccountScope, PageQuery } from './account.ts'
import { type UserDocument, untoldChange } from './documents.ts'
import { readPage } from './page.ts'

export type PeopleStore = ReturnType<typeof createPeopleStore>

const notRemoved = { status: { $ne: 'REMOVED' as const } }

/** People of accounts. Somebody who signs in is found by what he alone has; everybody else under the account. */
export function createPeopleStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const users = db.collection<UserDocument>('users')
  const invited = (hashes: readonly string[], now: Date) => ({
    status: 'INVITED' as const,
    'invitation.hash': { $in: [...hashes] },
    'invitation.expiresAt': { $gt: now },
  })
  const set = async (
    { operatorId }: AccountScope,
    userId: string,
    fields: Partial<UserDocument>,
  ): Promise<void> => {
    await users.updateOne({ _id: userId, operatorId }, { $set: fields })
  }

  return {
    /** @throws the database's duplicate-key error for a known id or e-mail address. */
    insert: async (user: UserDocument): Promise<void> => {
      await users.insertOne(user)
    },

    /** Null for somebody foreign or removed. */
    find: ({ operatorId }: AccountScope, userId: string) =>
      users.findOne({ _id: userId, operatorId, ...notRemoved }),

    /** As `find`, also while a removal is not told to the gateways yet. */
    known: ({ operatorId }: AccountScope, userId: string) => users.findOne({ _id: userId, operatorId }),

    active: ({ operatorId }: AccountScope, userId: string) =>
      users.findOne({ _id: userId, operatorId, status: 'ACTIVE' }),

    /** Those of `userIds` who are active. */
    async activeAmong({ operatorId }: AccountScope, userIds: readonly string[]): Promise<Set<string>> {
      const found = await users
        .find({ _id: { $in: [...userIds] }, operatorId, status: 'ACTIVE' }, { projection: { _id: 1 } })
        .toArray()
      return new Set(found.map(({ _id }) => _id))
    },

    /** Newest first. */
    page: ({ operatorId }: AccountScope, { limit, cursor }: PageQuery) =>
      readPage({
        collection: users,
        filter: { operatorId, ...notRemoved },
        order: '_id',
        limit,
        cursor,
        cursors,
        binding: ['users', operatorId],
      }),

    setPassword: (account: AccountScope, userId: string, passwordHash: string) =>
      set(account, userId, { passwordHash }),

    noteLogin: (account: AccountScope, userId: string, lastLoginAt: Date) =>
      set(account, userId, { lastLoginAt }),

    /** Whether this still is an active person's password. */
    async hasPassword({ operatorId }: AccountScope, userId: string, passwordHash: string): Promise<boolean> {
      const found = await users.findOne({ _id: userId, operatorId, status: 'ACTIVE', passwordHash })
      return found !== null
    },

    /** The gateways have to be told. Null for somebody foreign or removed. */
    setRole: ({ operatorId }: AccountScope, userId: string, role: Role) =>
      users.findOneAndUpdate(
        { _id: userId, operatorId, ...notRemoved },
        { $set: { role, ...untoldChange() } },
        { returnDocument: 'after' },
      ),

    /** The gateways have to be told; `removeGone` ends it. */
    remove: (account: AccountScope, userId: string) =>
      set(account, userId, { status: 'REMOVED', ...untoldChange() }),

    /** Begins with a second factor unless one is in use. */
    enrolTotp: async ({ operatorId }: AccountScope, userId: string, sealedSecret: string): Promise<void> => {
      await users.updateOne(
        { _id: userId, operatorId, 'totp.confirmed': { $ne: true } },
        { $set: { totp: { sealedSecret, confirmed: false, lastStep: 0 } } },
      )
    },

    removeTotp: (account: AccountScope, userId: string) =>
      set(account, userId, { totp: null, recoveryHashes: [] }),

    /** Uses up a step of the second factor; false when it, or a later one, was used. */
    async takeTotpStep(
      { operatorId }: AccountScope,
      userId: string,
      { sealedSecret, step }: { sealedSecret: string; step: number },
      fields: Partial<UserDocument>,
    ): Promise<boolean> {
      const { matchedCount } = await users.updateOne(
        { _id: userId, operatorId, 'totp.lastStep': { $lt: step }, 'totp.sealedSecret': sealedSecret },
        { $set: { 'totp.lastStep': step, 'totp.confirmed': true, ...fields } },
      )
      return matchedCount === 1
    },

    /** Uses up a recovery code; false when there is none of these. */
    async takeRecoveryCode(
      { operatorId }: AccountScope,
      userId: string,
      hashes: readonly string[],
    ): Promise<boolean> {
      const { modifiedCount } = await users.updateOne(
        { _id: userId, operatorId, recoveryHashes: { $in: [...hashes] } },
        { $pull: { recoveryHashes: { $in: [...hashes] } } },
      )
      return modifiedCount === 1
    },

    /** In lower case; of any account and status. */
    byEmail: (email: string) => users.findOne({ email }),
    activeByEmail: (email: string) => users.findOne({ email, status: 'ACTIVE' }),
    activeById: (userId: string) => users.findOne({ _id: userId, status: 'ACTIVE' }),

    byInvitation: (hashes: readonly string[], now: Date) => users.findOne(invited(hashes, now)),

    /** Null when the invitation was used meanwhile. */
    accept: (hashes: readonly string[], passwordHash: string, now: Date) =>
      users.findOneAndUpdate(
        invited(hashes, now),
        { $set: { status: 'ACTIVE', passwordHash, invitation: null } },
        { returnDocument: 'after' },
      ),

    /** People about whom the gateways were not told yet. */
    async untold(max: number): Promise<string[]> {
      const found = await users
        .find({ accessPending: true }, { projection: { _id: 1 } })
        .limit(max)
        .toArray()
      return found.map(({ _id }) => _id)
    },

    /** Ends a removal. */
    removeGone: async (userId: string): Promise<void> => {
      await users.deleteOne({ _id: userId, status: 'REMOVED' })
    },

    /** The record as it stands, of whichever account and status. */
    latest: (userId: string) => users.findOne({ _id: userId }),

    /** To be called with the record as it was before it was told. */
    told: async ({ _id, accessChange }: UserDocument): Promise<void> => {
      await users.updateOne({ _id, accessChange: accessChange ?? null }, { $set: { accessPending: false } })
    },
  }
}
