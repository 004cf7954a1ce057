import type { Role } from '@pitboss/contracts/caller'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Db } from 'mongodb'
import { type AccessSubject, accessChangesIn, unpublishedChange } from './access-change.ts'
import { type AccountScope, type PageQuery, readPage } from './page.ts'

export type UserDocument = AccessSubject & {
  operatorId: string
  /** In lower case. It is unique over all accounts, because a login names a person by it alone. */
  email: string
  name: string
  role: Role
  status: 'ACTIVE' | 'INVITED' | 'REMOVED'
  passwordHash: string | null
  /** `confirmed` is false until the first code; `lastStep` is the last step of 30 s whose code was used. */
  totp: { sealedSecret: string; confirmed: boolean; lastStep: number } | null
  recoveryHashes: string[]
  invitation: { hash: string; expiresAt: Date } | null
  createdAt: Date
  lastLoginAt: Date | null
}

const notRemoved = { status: { $ne: 'REMOVED' as const } }

/**
 * People of accounts. A login finds a person by e-mail address, invitation or refresh token, and a
 * publication by id; every other method takes the account.
 */
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
    ...accessChangesIn(db, 'users'),

    /** @throws the database's duplicate-key error for a known id or e-mail address. */
    insert: async (user: UserDocument): Promise<void> => {
      await users.insertOne(user)
    },

    /** Number of the account's people, counted up to `most`. */
    count: ({ operatorId }: AccountScope, most: number) =>
      users.countDocuments({ operatorId, ...notRemoved }, { limit: most }),

    /** Null for a foreign or removed person. */
    find: ({ operatorId }: AccountScope, userId: string) =>
      users.findOne({ _id: userId, operatorId, ...notRemoved }),

    /** As `find`, but also a person whose removal is not published yet. */
    known: ({ operatorId }: AccountScope, userId: string) => users.findOne({ _id: userId, operatorId }),

    active: ({ operatorId }: AccountScope, userId: string) =>
      users.findOne({ _id: userId, operatorId, status: 'ACTIVE' }),

    /** The active people of `userIds`. */
    async activeAmong({ operatorId }: AccountScope, userIds: readonly string[]): Promise<Set<string>> {
      const found = await users
        .find({ _id: { $in: [...userIds] }, operatorId, status: 'ACTIVE' }, { projection: { _id: 1 } })
        .toArray()
      return new Set(found.map(({ _id }) => _id))
    },

    /** Newest first. */
    page: ({ operatorId }: AccountScope, query: PageQuery) =>
      readPage({
        collection: users,
        filter: { operatorId, ...notRemoved },
        order: '_id',
        query,
        cursors,
        binding: ['users', operatorId],
      }),

    setPassword: (account: AccountScope, userId: string, passwordHash: string) =>
      set(account, userId, { passwordHash }),

    noteLogin: (account: AccountScope, userId: string, lastLoginAt: Date) =>
      set(account, userId, { lastLoginAt }),

    /** Tells whether an active person still has this password. */
    async hasPassword({ operatorId }: AccountScope, userId: string, passwordHash: string): Promise<boolean> {
      const found = await users.findOne({ _id: userId, operatorId, status: 'ACTIVE', passwordHash })
      return found !== null
    },

    /** The change is unpublished afterwards. Null for a foreign or removed person. */
    setRole: ({ operatorId }: AccountScope, userId: string, role: Role) =>
      users.findOneAndUpdate(
        { _id: userId, operatorId, ...notRemoved },
        { $set: unpublishedChange({ role }) },
        { returnDocument: 'after' },
      ),

    /**
     * Marks a person as removed; the change is unpublished afterwards, and `deleteRemoved` ends the removal.
     */
    remove: (account: AccountScope, userId: string) =>
      set(account, userId, unpublishedChange({ status: 'REMOVED' })),

    /** Starts a second factor unless one is in use. */
    enrolTotp: async ({ operatorId }: AccountScope, userId: string, sealedSecret: string): Promise<void> => {
      await users.updateOne(
        { _id: userId, operatorId, 'totp.confirmed': { $ne: true } },
        { $set: { totp: { sealedSecret, confirmed: false, lastStep: 0 } } },
      )
    },

    removeTotp: (account: AccountScope, userId: string) =>
      set(account, userId, { totp: null, recoveryHashes: [] }),

    /** Uses up a step of the second factor. False when this step or a later one was used. */
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

    /** Uses up a recovery code. False when the person has none of these hashes. */
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

    /** The person of any account and status who has this e-mail address, which is in lower case. */
    byEmail: (email: string) => users.findOne({ email }),
    activeByEmail: (email: string) => users.findOne({ email, status: 'ACTIVE' }),
    activeById: (userId: string) => users.findOne({ _id: userId, status: 'ACTIVE' }),

    byInvitation: (hashes: readonly string[], now: Date) => users.findOne(invited(hashes, now)),

    /** Makes an invited person active. Null when another request used the invitation first. */
    accept: (hashes: readonly string[], passwordHash: string, now: Date) =>
      users.findOneAndUpdate(
        invited(hashes, now),
        { $set: { status: 'ACTIVE', passwordHash, invitation: null } },
        { returnDocument: 'after' },
      ),

    /** The document of a person of any account and status. */
    latest: (userId: string) => users.findOne({ _id: userId }),

    /** Removes the document of a removed person. */
    deleteRemoved: async (userId: string): Promise<void> => {
      await users.deleteOne({ _id: userId, status: 'REMOVED' })
    },
  }
}
