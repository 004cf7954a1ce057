import type { AuditEntry } from '@pitboss/contracts/audit'
import { auditedUpdate, type WithAudit } from '@pitboss/storage/audit-outbox'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Db } from 'mongodb'
import { type AccountScope, type PageQuery, readPage } from './page.ts'

/** A saved view; both environments of an account share it. */
export type ViewDocument = WithAudit & {
  _id: string
  operatorId: string
  page: string
  name: string
  query: string
  madeBy: { userId: string; email: string }
  createdAt: Date
}

/** A view that is removed, but whose audit entry has not moved, is no more. */
const present = { auditRemoves: { $ne: true } }

export function createViewsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const views = db.collection<ViewDocument>('views')
  return {
    /** Inserts a view; a repeat under the same id finds the first one. Null when its page has the name. */
    async insert(view: ViewDocument): Promise<ViewDocument | null> {
      try {
        await views.insertOne(view)
        return view
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        return views.findOne({ _id: view._id, operatorId: view.operatorId, ...present })
      }
    },

    /** Newest first; of one page or of all. */
    page: ({ operatorId }: AccountScope, { page, ...query }: PageQuery & { page?: string | undefined }) =>
      readPage({
        collection: views,
        filter: { operatorId, ...(page === undefined ? {} : { page }), ...present },
        order: '_id',
        query,
        cursors,
        binding: ['views', operatorId, page ?? null],
      }),

    count: ({ operatorId }: AccountScope) => views.countDocuments({ operatorId, ...present }),

    /** Null for a foreign or removed view. */
    find: ({ operatorId }: AccountScope, viewId: string) =>
      views.findOne({ _id: viewId, operatorId, ...present }),

    /**
     * Marks a view as removed and frees its name; it is deleted when its audit entry has moved. False when
     * there is no such view.
     */
    async remove({ operatorId }: AccountScope, viewId: string, audit: AuditEntry): Promise<boolean> {
      const { matchedCount } = await views.updateOne(
        { _id: viewId, operatorId, ...present },
        auditedUpdate<ViewDocument>({ $set: { auditRemoves: true, name: `removed/${viewId}` } }, audit),
      )
      return matchedCount === 1
    },
  }
}
