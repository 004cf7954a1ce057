import type { Scope } from '@pitboss/contracts/caller'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Collection, Document, Filter, WithId } from 'mongodb'
import { z } from 'zod'

/** The account of a record that both environments share. */
export type AccountScope = Pick<Scope, 'operatorId'>

/** The page of a list that is asked for. */
export type PageQuery = { readonly limit: number; readonly cursor?: string | null | undefined }

const position = z.string().max(256)

/**
 * Reads one page of `filter`, in the order of the unique text field `order`: newest first unless `ascending`.
 * A cursor is good for the same `binding` alone.
 * @throws ServiceError VALIDATION_ERROR at `cursor`
 */
export async function readPage<Row extends Document>({
  collection,
  filter,
  order,
  ascending = false,
  query: { limit, cursor },
  cursors,
  binding,
  hint,
}: {
  collection: Collection<Row>
  filter: Document
  order: string
  ascending?: boolean
  query: PageQuery
  cursors: CursorCodec
  binding: unknown
  /** The index that finds them; without one the database chooses. */
  hint?: string
}): Promise<{ rows: WithId<Row>[]; nextCursor: string | null }> {
  const after = typeof cursor !== 'string' ? undefined : position.parse(cursors.decode(binding, cursor))
  const beyond =
    after === undefined
      ? {}
      : { [order]: { ...fieldFilter(filter[order]), [ascending ? '$gt' : '$lt']: after } }
  // The driver's filter type cannot be built from a computed field name.
  const all = collection.find({ ...filter, ...beyond } as Filter<Row>)
  const found = await (hint === undefined ? all : all.hint(hint))
    .sort({ [order]: ascending ? 1 : -1 })
    .limit(limit + 1)
    .toArray()
  const rows = found.slice(0, limit)
  const last: unknown = rows.at(-1)?.[order]
  return { rows, nextCursor: found.length > limit ? cursors.encode(binding, last) : null }
}

const fieldFilter = (value: unknown): Document => (typeof value === 'object' && value !== null ? value : {})
