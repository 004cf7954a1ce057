import type { AuditEntry } from '@pitboss/contracts/audit'
import type { Jurisdiction } from '@pitboss/contracts/jurisdictions'
import { auditedUpdate, type WithAudit } from '@pitboss/storage/audit-outbox'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { Db } from 'mongodb'
import { z } from 'zod'
import { type AccessSubject, accessChangesIn, type Changes, unpublishedChange } from './access-change.ts'
import { type AccountScope, type PageQuery, readPage } from './page.ts'

export type OperatorDocument = AccessSubject &
  WithAudit & {
    name: string
    plan: 'free' | 'paid'
    approved: boolean
    suspended: boolean
    livePlay: 'on' | 'off' | 'suspended'
    currencies: string[]
    timezone: string
    /** Absent in an account of an earlier release, which demands none. */
    requireTotp?: boolean
    /** Grave acts wait for a second person; absent in an account that has never wanted it. */
    secondPerson?: boolean
    /** The approvals that ended each the last time. */
    secondPersonEndedBy?: string
    requireTotpEndedBy?: string
    /** Absent in an account that has never set one, which counts as `NONE`. */
    defaultJurisdiction?: Jurisdiction
    /** Ids of the active owners. This list decides who is an owner; it never becomes empty. */
    owners: string[]
    createdAt: Date
  }

/** What protects an account, and is switched off by two people. */
export type AccountGuard = 'secondPerson' | 'requireTotp'

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
    page: (query: PageQuery) =>
      readPage({
        collection: operators,
        filter: {},
        order: '_id',
        ascending: true,
        query,
        cursors,
        binding: ['ops', 'operators'],
      }),

    /** Sets fields; the change is unpublished afterwards. */
    change: async (
      { operatorId }: AccountScope,
      set: Changes<OperatorDocument>,
      audit: AuditEntry | null,
    ): Promise<void> => {
      await operators.updateOne({ _id: operatorId }, auditedUpdate({ $set: unpublishedChange(set) }, audit))
    },

    /** Switches a guard of the account off, once for an approval. False when it was off. */
    async endGuard(
      { operatorId }: AccountScope,
      guard: AccountGuard,
      approvalId: string,
      audit: AuditEntry,
    ): Promise<boolean> {
      const { matchedCount } = await operators.updateOne(
        { _id: operatorId, [guard]: true, [`${guard}EndedBy`]: { $ne: approvalId } },
        auditedUpdate<OperatorDocument>(
          { $set: unpublishedChange({ [guard]: false, [`${guard}EndedBy`]: approvalId }) },
          audit,
        ),
      )
      return matchedCount === 1
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
        { $pull: { owners: userId }, $set: unpublishedChange({}) },
      )
      return matchedCount === 1
    },
  }
}

export type BrandDocument = WithAudit & {
  _id: string
  operatorId: string
  name: string
  /** Absent in a brand that takes the account's. */
  defaultJurisdiction?: Jurisdiction
  createdAt: Date
}

/** A brand that is removed, but whose audit entry has not moved, is no more. */
const present = { auditRemoves: { $ne: true } }

/** Brands of accounts; both environments of an account share them. */
export function createBrandsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const brands = db.collection<BrandDocument>('brands')
  return {
    /** Inserts a brand; a repeat under the same id finds the first one. Null when the name is taken. */
    async insert(brand: BrandDocument): Promise<BrandDocument | null> {
      try {
        await brands.insertOne(brand)
        return brand
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        return brands.findOne({ _id: brand._id, operatorId: brand.operatorId, ...present })
      }
    },

    /** Newest first. */
    page: ({ operatorId }: AccountScope, query: PageQuery) =>
      readPage({
        collection: brands,
        filter: { operatorId, ...present },
        order: '_id',
        query,
        cursors,
        binding: ['brands', operatorId],
      }),

    /** In the order of creation. */
    first: ({ operatorId }: AccountScope, max: number) =>
      brands
        .find({ operatorId, ...present })
        .sort({ _id: 1 })
        .limit(max)
        .toArray(),

    count: ({ operatorId }: AccountScope) => brands.countDocuments({ operatorId, ...present }),

    /** Null for a foreign or removed brand. */
    find: ({ operatorId }: AccountScope, brandId: string) =>
      brands.findOne({ _id: brandId, operatorId, ...present }),

    /**
     * Marks a brand as removed and frees its name; it is deleted when its audit entry has moved. False when
     * there is no such brand.
     */
    async remove({ operatorId }: AccountScope, brandId: string, audit: AuditEntry): Promise<boolean> {
      const { matchedCount } = await brands.updateOne(
        { _id: brandId, operatorId, ...present },
        auditedUpdate({ $set: { auditRemoves: true, name: `removed/${brandId}` } }, audit),
      )
      return matchedCount === 1
    },
  }
}

type PlatformDocument = AccessSubject & WithAudit & { _id: 'platform'; realMoney: boolean }

const buildInfo = z.looseObject({ version: z.string() })

/** The switches of the whole platform, in one document, and the database that holds them. */
export function createPlatformStore({ db }: { db: Db }) {
  const platform = db.collection<PlatformDocument>('platform')
  return {
    ...accessChangesIn(db, 'platform'),

    /** Null until a switch is set for the first time. */
    find: () => platform.findOne({ _id: 'platform' }),

    /** Tells whether rounds for real money are allowed; they are until somebody switches them off. */
    isRealMoneyOn: async (): Promise<boolean> =>
      (await platform.findOne({ _id: 'platform' }))?.realMoney ?? true,

    /** The change is unpublished afterwards. */
    setRealMoney: async (realMoney: boolean, audit: AuditEntry): Promise<void> => {
      await platform.updateOne(
        { _id: 'platform' },
        auditedUpdate({ $set: unpublishedChange({ realMoney }) }, audit),
        { upsert: true },
      )
    },

    /** The version of the database server. */
    async databaseVersion(): Promise<string> {
      return buildInfo.parse(await db.command({ buildInfo: 1 })).version
    },
  }
}
