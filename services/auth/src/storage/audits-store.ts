import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Db } from 'mongodb'
import type { PageQuery } from './account.ts'
import { readPage } from './page.ts'

export type AuditDocument = {
  _id: string
  at: Date
  by: string
  what: string
  target: string | null
  reason: string | null
  details: Record<string, unknown>
}

/** The audit log of operations, over every account. */
export function createAuditsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const audits = db.collection<AuditDocument>('audits')
  return {
    insert: async (record: AuditDocument): Promise<void> => {
      await audits.insertOne(record)
    },

    /** Newest first. */
    page: ({ limit, cursor }: PageQuery) =>
      readPage({
        collection: audits,
        filter: {},
        order: '_id',
        limit,
        cursor,
        cursors,
        binding: ['ops', 'audits'],
      }),
  }
}
