import type { AuditEntry } from '@pitboss/contracts/audit'
import { type AuditLink, type AuditProof, type AuditSource, hashOfLink } from '@pitboss/contracts/audit-chain'
import { tryAgain } from '@pitboss/errors/service-error'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { readPage as readKeyedPage } from '@pitboss/storage/read-page'
import type { Db, Filter } from 'mongodb'
import { type AccountScope, type PageQuery, readPage } from './page.ts'

/** Others take the next place of the same account at the same time. */
const triesMax = 100
/** The id of the head of entries that belong to no account. */
const platform = 'platform'
/** Source: docs/decisions/2026-11-23-audit-in-the-same-write.md. */
const keptS = 400 * 24 * 60 * 60

export type AuditDocument = {
  /** The audit_id, below its service's name but for auth's own: a repeated entry is written once. */
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
  entry: Omit<AuditEntry, 'token'>
  /** Its place in the chain; absent in an entry of an earlier release. */
  link?: Omit<AuditLink, 'entry'>
}

/** An entry with what auth knows of it. */
export type TakenEntry = {
  readonly entry: AuditEntry
  readonly source: AuditSource
  readonly proof: AuditProof
}

/** The end of an account's chain, and its signature of the latest hour. */
export type AuditHeadDocument = {
  _id: string
  /** Names the latest entry that is not signed; null when all are. */
  unsigned: string | null
  dueAt: Date
  signed?: { seq: number; hash: string; at: Date; jws: string }
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
  { key: { kind: 1, at: 1, _id: 1 }, name: 'by_kind_and_time' },
  { key: { kind: 1, _id: 1 }, name: 'by_kind', retired: true },
  { key: { at: 1 }, name: 'four_hundred_days', expireAfterSeconds: keptS },
  {
    key: { operatorId: 1, 'link.seq': 1 },
    name: 'chain',
    unique: true,
    partialFilterExpression: { 'link.seq': { $gt: 0 } },
  },
]

export const auditHeadIndexes: readonly IndexDeclaration[] = [
  { key: { dueAt: 1 }, name: 'due', partialFilterExpression: { unsigned: { $gt: '' } } },
]

/** The audit log of every account and of operations. */
export function createAuditsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const audits = db.collection<AuditDocument>('audits')
  const ofOperations = db.collection<AuditDocument | EarlierAuditDocument>('audits')
  const heads = db.collection<AuditHeadDocument>('audit_heads')
  const last = (operatorId: string | null) =>
    audits.findOne({ operatorId, 'link.seq': { $gt: 0 } }, { sort: { 'link.seq': -1 }, hint: 'chain' })

  /** False for an entry that the log has. */
  async function appendOne({ entry: { token: _, ...given }, source, proof }: TakenEntry, now: Date) {
    // As it is read back: without what is undefined.
    const entry: Omit<AuditEntry, 'token'> = JSON.parse(JSON.stringify(given))
    const { audit_id, operator_id: operatorId } = entry
    const _id = source === 'auth' ? audit_id : `${source}/${audit_id}`
    // A crash after the insert leaves the head unsigned, which the worker finds.
    await heads.updateOne(
      { _id: operatorId ?? platform },
      { $set: { unsigned: _id }, $setOnInsert: { dueAt: now } },
      { upsert: true },
    )
    for (let tries = 0; tries < triesMax; tries++) {
      const before = (await last(operatorId))?.link
      const next = {
        ...{ seq: (before?.seq ?? 0) + 1, prev: before?.hash ?? '', taken_at: now.toISOString() },
        ...{ source, proof },
      }
      const link = { ...next, hash: hashOfLink({ ...next, entry }) }
      try {
        await audits.insertOne({ ...toDocument(entry), _id, link })
        return true
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        if ((await audits.countDocuments({ _id: { $in: [_id, audit_id] } }, { limit: 1 })) > 0) return false
      }
    }
    throw tryAgain()
  }

  return {
    /**
     * Appends entries to the chains of their accounts, and passes over those that it has.
     * @returns the number of new ones
     * @throws ServiceError SERVICE_UNAVAILABLE when others keep taking the next place
     */
    async append(taken: readonly TakenEntry[], now: Date): Promise<number> {
      let written = 0
      for (const one of taken) if (await appendOne(one, now)) written += 1
      return written
    },

    /** The links of an account from a place on, in their order. */
    async links(operatorId: string | null, fromSeq: number, max: number): Promise<AuditLink[]> {
      const found = await audits
        .find({ operatorId, 'link.seq': { $gte: fromSeq } })
        .sort({ 'link.seq': 1 })
        .hint('chain')
        .limit(max)
        .toArray()
      return found.flatMap(({ link, entry }) => (link === undefined ? [] : [{ ...link, entry }]))
    },

    /** Ids of entries of an account that stand in no chain and are of `from` or later; at most `max`. */
    async unlinked(operatorId: string | null, from: Date, max: number): Promise<string[]> {
      const found = await audits
        .find({ operatorId, order: { $gte: from.toISOString() }, link: { $exists: false } })
        .project<{ _id: string }>({ _id: 1 })
        .limit(max)
        .toArray()
      return found.map(({ _id }) => _id)
    },

    /** The signed end of an account's chain; null before the first hour. */
    head: async ({ operatorId }: AccountScope) => (await heads.findOne({ _id: operatorId }))?.signed ?? null,
    headOfPlatform: async () => (await heads.findOne({ _id: platform }))?.signed ?? null,

    /** The ends of chains that are due to be signed. */
    headsDue: (now: Date, max: number) =>
      heads
        .find({ unsigned: { $gt: '' }, dueAt: { $lte: now } })
        .sort({ dueAt: 1 })
        .limit(max)
        .toArray(),

    /** The last link of a chain. @param headId of its head */
    lastLink: async (headId: string) => (await last(headId === platform ? null : headId))?.link ?? null,

    /** Keeps a signature. What was appended since `seen` stays unsigned until `dueAt`. */
    async sign(
      { _id, unsigned }: AuditHeadDocument,
      signed: NonNullable<AuditHeadDocument['signed']>,
      dueAt: Date,
    ): Promise<void> {
      await heads.updateOne({ _id }, { $set: { signed, dueAt } })
      await heads.updateOne({ _id, unsigned }, { $set: { unsigned: null } })
    },

    /** Whether the log of an account has an entry of auth. */
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

    /** The records of operations over every account, newest first; an id begins with its service's name. */
    async pageOfOperations({ limit, cursor }: PageQuery) {
      const { items: rows, nextCursor } = await readKeyedPage({
        ...{ cursors, binding: ['ops', 'audits'], query: { limit, cursor: cursor ?? undefined } },
        read: (before, max) =>
          ofOperations.find(operationsBefore(before)).sort({ at: -1, _id: -1 }).limit(max).toArray(),
        positionOf: ({ at, _id }) => `${at.toISOString()} ${_id}`,
      })
      return { rows, nextCursor }
    },
  }
}

function operationsBefore(position: string | null): Filter<AuditDocument | EarlierAuditDocument> {
  const [time = '', id = ''] = position?.split(' ') ?? []
  const at = new Date(time)
  const beyond =
    position === null ? {} : { at: { $lte: at }, $or: [{ at: { $lt: at } }, { _id: { $lt: id } }] }
  // The driver's filter type has no null for a field that earlier records lack.
  return { kind: { $in: ['operations', null] }, ...beyond } as Filter<AuditDocument | EarlierAuditDocument>
}

function toDocument(entry: Omit<AuditEntry, 'token'>): AuditDocument {
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
