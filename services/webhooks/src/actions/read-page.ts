import { invalidField } from '@pitboss/errors/service-error'
import type { CursorCodec } from '@pitboss/storage/cursor'

/**
 * Reads one page of a list that is sorted by one text, newest first.
 * @param binding ties the cursor to the account and the filters of the list
 * @param find the items before a position, at most `limit`
 * @returns the items, and the cursor of the next page; null at the end
 * @throws ServiceError VALIDATION_ERROR for a cursor of another list
 */
export async function readPage<Item>({
  cursors,
  binding,
  query,
  find,
  positionOf,
}: {
  cursors: CursorCodec
  binding: unknown
  query: { readonly limit: number; readonly cursor?: string | undefined }
  find: (before: string | null, limit: number) => Promise<Item[]>
  positionOf: (item: Item) => string
}): Promise<{ items: Item[]; nextCursor: string | null }> {
  const before = query.cursor === undefined ? null : cursors.decode(binding, query.cursor)
  if (before !== null && typeof before !== 'string') {
    throw invalidField('cursor', 'is damaged or belongs to another list')
  }
  const found = await find(before, query.limit + 1)
  const items = found.slice(0, query.limit)
  const last = items.at(-1)
  const more = found.length > query.limit && last !== undefined
  return { items, nextCursor: more ? cursors.encode(binding, positionOf(last)) : null }
}
