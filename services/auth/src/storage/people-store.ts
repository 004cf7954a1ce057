import type { AuditEntry } from '@pitboss/contracts/audit'
import type { Role } from '@pitboss/contracts/caller'
import { auditedUpdate, type WithAudit } from '@pitboss/storage/audit-outbox'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { type PageQuery as ListQuery, readPage as readListPage } from '@pitboss/storage/read-page'
import type { Db } from 'mongodb'
import { type AccessSubject, accessChangesIn, unpublishedChange } from './access-change.ts'
import { type AccountScope, type PageQuery, readPage } from './page.ts'
import { secondFactorsIn } from './second-factors.ts'

export type UserDocument = AccessSubject &
  WithAudit & {
    operatorId: string
    /** In lower case; unique within an account. */
    email: string
    name: string
    role: Role
    status: 'ACTIVE' | 'INVITED' | 'REMOVED'
    passwordHash: string | null
    /** Somebody else knows the password. */
    mustChangePassword?: boolean
    /** `confirmed` is false until the first code; `lastStep` is the last step of 30 s whose code was used. */
    totp: { sealedSecret: string; confirmed: boolean; lastStep: number } | null
    recoveryHashes: string[]
    /** Tries of a code since the last right one, and the time of the next. */
    codeTries?: { count: number; nextAt: Date } | null
    /** The same from devices that have a session of the person. */
    knownCodeTries?: { count: number; nextAt: Date } | null
    /** The same of the current password, where a signed-in person has to give it. */
    passwordTries?: { count: number; nextAt: Date } | null
    invitation: { hash: string; expiresAt: Date } | null
    createdAt: Date
    lastLoginAt: Date | null
    /** Oldest first. A write that ends one is published, so that the gateways refuse its tokens. */
    sessions?: UserSession[]
  }

/** A person's session, from sign-in to sign-out; its refresh tokens have `id` as family. */
export type UserSession = {
  id: string
  createdAt: Date
  lastUsedAt: Date
  expiresAt: Date
  /** Null for a session that an earlier release began. */
  clientAddress: string | null
  userAgent: string | null
  /** Keyed hash of the cookie by which the device is known; absent where an earlier release began it. */
  deviceHash?: string
}

/** Accounts of one e-mail address that a sign-in without `operator_id` looks at. */
const signInAccountsMax = 20
/** The oldest session beyond it ends. */
const sessionsMax = 200

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
    audit: AuditEntry,
  ): Promise<void> => {
    await users.updateOne({ _id: userId, operatorId }, auditedUpdate({ $set: fields }, audit))
  }

  return {
    ...accessChangesIn(db, 'users'),
    ...secondFactorsIn(users),

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

    /** Number of active owners and admins beside `exceptId`, made by `madeBefore`, counted up to `most`. */
    countApprovers: (
      { operatorId }: AccountScope,
      exceptId: string | null,
      most: number,
      madeBefore: Date | null = null,
    ) =>
      users.countDocuments(
        {
          ...{ operatorId, status: 'ACTIVE', role: { $in: ['OWNER', 'ADMIN'] } },
          ...(exceptId === null ? {} : { _id: { $ne: exceptId } }),
          ...(madeBefore === null ? {} : { createdAt: { $lte: madeBefore } }),
        },
        { limit: most },
      ),

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

    /** The sessions of a person that are in force, newest first. @throws ServiceError VALIDATION_ERROR */
    sessionsPage({ _id, sessions = [] }: UserDocument, query: ListQuery, now: Date) {
      const placeOf = ({ createdAt, id }: UserSession) => `${createdAt.toISOString()} ${id}`
      const open = sessions
        .filter(({ expiresAt }) => expiresAt > now)
        .toSorted((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1))
      return readListPage({
        cursors,
        binding: ['sessions', _id],
        query,
        read: async (before, max) =>
          open.filter((one) => before === null || placeOf(one) < before).slice(0, max),
        positionOf: placeOf,
      })
    },

    /** Ends every session; the change is unpublished afterwards. */
    setPassword: (account: AccountScope, userId: string, passwordHash: string, audit: AuditEntry) =>
      set(
        account,
        userId,
        unpublishedChange({ passwordHash, mustChangePassword: false, sessions: [] }),
        audit,
      ),

    /**
     * Begins a session of an active person.
     * @returns the person as it is then; null when the password is another by now
     */
    startSession: (
      { operatorId }: AccountScope,
      userId: string,
      passwordHash: string,
      session: UserSession,
      audit: AuditEntry,
    ) =>
      users.findOneAndUpdate(
        { _id: userId, operatorId, status: 'ACTIVE', passwordHash },
        auditedUpdate<UserDocument>(
          {
            $set: { lastLoginAt: session.createdAt },
            $push: { sessions: { $each: [session], $slice: -sessionsMax } },
          },
          audit,
        ),
        { returnDocument: 'after' },
      ),

    /** Replaces a hash by another of the same password. */
    rehash: async ({ operatorId }: AccountScope, userId: string, old: string, passwordHash: string) => {
      await users.updateOne({ _id: userId, operatorId, passwordHash: old }, { $set: { passwordHash } })
    },

    /** Ends a session; the change is unpublished afterwards. False when there is no such session. */
    async endSession(
      { operatorId }: AccountScope,
      userId: string,
      sessionId: string,
      audit: AuditEntry,
    ): Promise<boolean> {
      const { modifiedCount } = await users.updateOne(
        { _id: userId, operatorId, 'sessions.id': sessionId },
        auditedUpdate<UserDocument>(
          { $pull: { sessions: { id: sessionId } }, $set: unpublishedChange({}) },
          audit,
        ),
      )
      return modifiedCount === 1
    },

    /**
     * Notes a renewal of a session.
     * @returns the person; null when the session has ended or the person is not active
     */
    renewSession: (userId: string, sessionId: string, now: Date) =>
      users.findOneAndUpdate(
        {
          _id: userId,
          status: 'ACTIVE',
          sessions: { $elemMatch: { id: sessionId, expiresAt: { $gt: now } } },
        },
        { $set: { 'sessions.$.lastUsedAt': now } },
        { returnDocument: 'after' },
      ),

    /** Makes a session of a sign-in of an earlier release, which had none. Null when it has ended. */
    adoptSession: (userId: string, session: UserSession) =>
      users.findOneAndUpdate(
        { _id: userId, status: 'ACTIVE', 'sessions.id': { $ne: session.id } },
        { $push: { sessions: { $each: [session], $slice: -sessionsMax } } },
        { returnDocument: 'after' },
      ),

    /** The change is unpublished afterwards. Null for a foreign or removed person. */
    setRole: ({ operatorId }: AccountScope, userId: string, role: Role, audit: AuditEntry) =>
      users.findOneAndUpdate(
        { _id: userId, operatorId, ...notRemoved },
        auditedUpdate({ $set: unpublishedChange({ role }) }, audit),
        { returnDocument: 'after' },
      ),

    /**
     * Marks a person as removed; the change is unpublished afterwards, and `deleteRemoved` ends the removal.
     */
    remove: (account: AccountScope, userId: string, audit: AuditEntry) =>
      set(account, userId, unpublishedChange({ status: 'REMOVED', sessions: [] }), audit),

    /** At most 100 people, of any account, who have this e-mail address. */
    withEmail: (email: string) =>
      users
        .find({ email, ...notRemoved })
        .limit(100)
        .toArray(),
    /** The active people, of any account or of `operatorId`, who have this e-mail address; at most 20. */
    activeWithEmail: (email: string, operatorId: string | null) =>
      users
        .find({ email, status: 'ACTIVE', ...(operatorId === null ? {} : { operatorId }) })
        .sort({ _id: 1 })
        .limit(signInAccountsMax)
        .toArray(),

    byInvitation: (hashes: readonly string[], now: Date) => users.findOne(invited(hashes, now)),

    /** Makes an invited person active. Null when another request used the invitation first. */
    accept: (hashes: readonly string[], passwordHash: string, now: Date, audit: AuditEntry) =>
      users.findOneAndUpdate(
        invited(hashes, now),
        auditedUpdate({ $set: { status: 'ACTIVE', passwordHash, invitation: null } }, audit),
        { returnDocument: 'after' },
      ),

    /** The document of a person of any account and status. */
    latest: (userId: string) => users.findOne({ _id: userId }),

    /** Removes the document of a removed person whose audit entries have moved. */
    deleteRemoved: async (userId: string): Promise<void> => {
      await users.deleteOne({ _id: userId, status: 'REMOVED', auditOutboxAt: null })
    },
  }
}
