import type { ActedBy, AuditEntry } from '@pitboss/contracts/audit'
import type { ApprovalStatus, GraveOrder } from '@pitboss/contracts/objects/approval'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Db } from 'mongodb'
import { type AccountScope, type PageQuery, readPage } from './page.ts'

type Shown = Record<string, unknown> | null

/** A grave act that waits for a second person; both environments of an account share them. */
export type ApprovalDocument = WithAudit & {
  _id: string
  operatorId: string
  order: GraveOrder
  object: { type: string; id: string }
  /** Names the state that `before` shows. */
  seen: string
  before: Shown
  after: Shown
  by: ActedBy
  status: ApprovalStatus
  /** Nothing about this object has ended: it has one of them. */
  open: boolean
  /** When a worker looks at it: at the end of its time, or for the next try. Null at the end. */
  dueAt: Date | null
  askedAt: Date
  expiresAt: Date
  decidedBy: { userId: string; email: string } | null
  /** The first of two people of operations who approve in place of a missing second person. */
  operations?: { by: string; reason: string | null; at: Date }
  decidedAt: Date | null
  endedAt: Date | null
  outcome: string | null
}

type Decided = { readonly decidedBy: { userId: string; email: string }; readonly now: Date }
type End = { readonly status: ApprovalStatus; readonly outcome: string | null; readonly now: Date }

const beginning = new Date(0)
/** As long as the audit log. */
const keptS = 400 * 24 * 60 * 60

export const approvalIndexes: readonly IndexDeclaration[] = [
  { key: { operatorId: 1, _id: 1 }, name: 'by_operator' },
  {
    key: { operatorId: 1, 'object.type': 1, 'object.id': 1 },
    name: 'one_open',
    unique: true,
    partialFilterExpression: { open: true },
  },
  { key: { dueAt: 1 }, name: 'due', partialFilterExpression: { dueAt: { $gt: beginning } } },
  { key: { endedAt: 1 }, name: 'four_hundred_days', expireAfterSeconds: keptS },
  auditOutboxIndex,
]

export function createApprovalsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const approvals = db.collection<ApprovalDocument>('approvals')
  return {
    /** False when another one of its object is open. */
    insert: (approval: ApprovalDocument) => insertedFirst(() => approvals.insertOne(approval)),

    /** Null for a foreign one. */
    find: ({ operatorId }: AccountScope, id: string) => approvals.findOne({ _id: id, operatorId }),

    /** The one of an object that has not ended. */
    openOf: ({ operatorId }: AccountScope, { type, id }: ApprovalDocument['object']) =>
      approvals.findOne({ operatorId, 'object.type': type, 'object.id': id, open: true }),

    /** Newest first. */
    page: (
      { operatorId }: AccountScope,
      { status, ...query }: PageQuery & { status?: ApprovalStatus | undefined },
    ) =>
      readPage({
        collection: approvals,
        filter: { operatorId, ...(status === undefined ? {} : { status }) },
        order: '_id',
        query,
        cursors,
        binding: ['approvals', operatorId, status ?? null],
      }),

    /** Approves one that waits and has time left. Null when it does not. */
    approve: (
      { operatorId }: AccountScope,
      id: string,
      { decidedBy, now, dueAt, expiresAt }: Decided & { readonly dueAt: Date; readonly expiresAt: Date },
      audit: AuditEntry,
    ) =>
      approvals.findOneAndUpdate(
        { _id: id, operatorId, status: 'PENDING', expiresAt: { $gt: now } },
        auditedUpdate<ApprovalDocument>(
          { $set: { status: 'APPROVED', decidedBy, decidedAt: now, dueAt, expiresAt } },
          audit,
        ),
        { returnDocument: 'after' },
      ),

    /** Notes the first person of operations who approves one that waits. False when there is one already. */
    async noteOperations(
      { operatorId }: AccountScope,
      id: string,
      first: NonNullable<ApprovalDocument['operations']>,
      audit: AuditEntry,
    ): Promise<boolean> {
      const { matchedCount } = await approvals.updateOne(
        { _id: id, operatorId, status: 'PENDING', operations: { $exists: false } },
        auditedUpdate<ApprovalDocument>({ $set: { operations: first } }, audit),
      )
      return matchedCount === 1
    },

    /** Rejects one that waits. Null when it does not. */
    reject: ({ operatorId }: AccountScope, id: string, { decidedBy, now }: Decided, audit: AuditEntry) =>
      approvals.findOneAndUpdate(
        { _id: id, operatorId, status: 'PENDING' },
        auditedUpdate<ApprovalDocument>(
          {
            $set: {
              ...{ status: 'REJECTED', decidedBy, decidedAt: now },
              ...{ open: false, dueAt: null, endedAt: now },
            },
          },
          audit,
        ),
        { returnDocument: 'after' },
      ),

    /**
     * Ends one that has the status `from`. False when another process has.
     * @param audit null for one that was done, which the changed object's own entry tells
     */
    async end(
      { operatorId }: AccountScope,
      id: string,
      from: 'PENDING' | 'APPROVED',
      { status, outcome, now }: End,
      audit: AuditEntry | null,
    ): Promise<boolean> {
      const update = { $set: { status, outcome, open: false, dueAt: null, endedAt: now } }
      const { matchedCount } = await approvals.updateOne(
        { _id: id, operatorId, status: from },
        audit === null ? update : auditedUpdate<ApprovalDocument>(update, audit),
      )
      return matchedCount === 1
    },

    /** Those of every account that a worker has to look at, the earliest first. */
    due: (now: Date, max: number) =>
      approvals
        .find({ dueAt: { $gt: beginning, $lte: now } })
        .sort({ dueAt: 1 })
        .hint('due')
        .limit(max)
        .toArray(),

    /** Moves the next try of an approved one. */
    async postpone({ operatorId }: AccountScope, id: string, dueAt: Date): Promise<void> {
      await approvals.updateOne({ _id: id, operatorId, status: 'APPROVED' }, { $set: { dueAt } })
    },
  }
}
