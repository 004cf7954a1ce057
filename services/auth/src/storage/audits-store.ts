import type { AuditEntry } from '@pitboss/contracts/audit'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { type Db, MongoBulkWriteError } from 'mongodb'
import { type AccountScope, type PageQuery, readPage } from './page.ts'

const duplicateKey = 11_000
/** Source: docs/decisions/2026-11-23-audit-in-the-same-write.md. */
const keptS = 400 * 24 * 60 * 60

export type AuditDocument = {
  /** The audit_id, which is unique: a repeated entry is written once. */
  _id: string
  at: Date
  /** Time and id; pages are in this order, newest first. */
  order: string
  operatorId: string | null
  kind: AuditEntry['actor']['kind']
  /** Id, name and kind of the actor, and type and id of the object: a list may be filtered by each. */
  actorKeys: string[]
  objectKeys: string[]
  act: string
  entry: AuditEntry
}

/** A record of an earlier release, which kept those of operations alone. */
export type EarlierAuditDocument = Pick<AuditDocument, '_id' | 'at'> & {
  kind?: undefined
  by: string
  what: string
  target: string | null
  reason: string | null
  details: Record<string, unknown>
}

export type AuditFilters = {
  readonly actor?: string | undefined
  readonly act?: string | undefined
  readonly object?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export const auditIndexes: readonly IndexDeclaration[] = [
  { key: { operatorId: 1, order: 1 }, name: 'by_account' },
  { key: { operatorId: 1, actorKeys: 1, order: 1 }, name: 'by_actor' },
  { key: { operatorId: 1, objectKeys: 1, order: 1 }, name: 'by_object' },
  { key: { operatorId: 1, act: 1, order: 1 }, name: 'by_act' },
  { key: { kind: 1, _id: 1 }, name: 'by_kind' },
  { key: { at: 1 }, name: 'four_hundred_days', expireAfterSeconds: keptS },
]

/** The audit log of every account and of operations. */
export function createAuditsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const audits = db.collection<AuditDocument>('audits')
  const ofOperations = db.collection<AuditDocument | EarlierAuditDocument>('audits')
  return {
    /**
     * Inserts entries and passes over those that it has.
     * @returns the number of new ones
     */
    async append(entries: readonly AuditEntry[]): Promise<number> {
      if (entries.length === 0) return 0
      try {
        return (await audits.insertMany(entries.map(toDocument), { ordered: false })).insertedCount
      } catch (error) {
        if (!(error instanceof MongoBulkWriteError) || error.code !== duplicateKey) throw error
        return error.insertedCount
      }
    },

    /** Whether the log of an account has an entry. */
    has: async ({ operatorId }: AccountScope, auditId: string): Promise<boolean> =>
      (await audits.countDocuments({ _id: auditId, operatorId }, { limit: 1 })) > 0,

    /** The records of an account, newest first. */
    page({ operatorId }: AccountScope, { actor, act, object, from, to }: AuditFilters, query: PageQuery) {
      const window = {
        ...(from === undefined ? {} : { $gte: new Date(from).toISOString() }),
        // Ids follow the time, and they are below this character.
        ...(to === undefined ? {} : { $lte: `${new Date(to).toISOString()}~` }),
      }
      return readPage({
        collection: audits,
        filter: {
          operatorId,
          ...(actor === undefined ? {} : { actorKeys: actor }),
          ...(act === undefined ? {} : { act }),
          ...(object === undefined ? {} : { objectKeys: object }),
          ...(Object.keys(window).length === 0 ? {} : { order: window }),
        },
        order: 'order',
        query,
        cursors,
        binding: ['audit', operatorId, { actor, act, object }, from ?? null, to ?? null],
      })
    },

    /** The records of operations over every account, newest first. */
    pageOfOperations: (query: PageQuery) =>
      readPage({
        collection: ofOperations,
        filter: { kind: { $in: ['operations', null] } },
        order: '_id',
        query,
        cursors,
        binding: ['ops', 'audits'],
      }),
  }
}

function toDocument(entry: AuditEntry): AuditDocument {
  const { audit_id, at, operator_id, actor, act, object } = entry
  return {
    _id: audit_id,
    at: new Date(at),
    order: `${at} ${audit_id}`,
    operatorId: operator_id,
    kind: actor.kind,
    actorKeys: [...new Set([actor.id, actor.name, actor.kind])],
    objectKeys: [object.id, object.type],
    act,
    entry,
  }
}
