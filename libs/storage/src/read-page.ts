import { invalidField } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import type { CursorCodec } from './cursor.ts'

/** Bytes of items in one answer, which travels in one message of at most 1 MiB. */
const pageBytesMax = 600_000

export type PageQuery = { readonly limit: number; readonly cursor?: string | undefined }
export type Page<Item> = { items: Item[]; nextCursor: string | null }

/**
 * Reads one page of a list that follows an ordered key. It asks for one item more than fits, to know
 * whether anything follows.
 * @param binding the list, its filters, the account and the environment: the cursor is bound to them
 * @throws ServiceError VALIDATION_ERROR for a cursor of another list
 */
export async function readPage<Item, Position extends string | number>({
  cursors,
  binding,
  query: { limit, cursor },
  position,
  read,
  positionOf,
  bytesOf = () => 0,
}: {
  cursors: CursorCodec
  binding: unknown
  query: PageQuery
  position: z.ZodType<Position>
  read: (before: Position | null, max: number) => Promise<Item[]>
  positionOf: (item: Item) => Position
  /** The approximate bytes of an item in the answer, where items may be large. */
  bytesOf?: (item: Item) => number
}): Promise<Page<Item>> {
  const before = cursor === undefined ? null : readPosition({ cursors, binding, cursor, position })
  const found = await read(before, limit + 1)
  const items = withinBytes(found.slice(0, limit), bytesOf)
  const last = items.at(-1)
  const more = found.length > items.length && last !== undefined
  return { items, nextCursor: more ? cursors.encode(binding, positionOf(last)) : null }
}

/** Takes as many items as go into one answer, at least one; the next page has the others. */
export function withinBytes<Item>(items: readonly Item[], bytesOf: (item: Item) => number): Item[] {
  const taken: Item[] = []
  let bytes = 0
  for (const item of items) {
    bytes += bytesOf(item)
    if (taken.length > 0 && bytes > pageBytesMax) break
    taken.push(item)
  }
  return taken
}

/** The position in a cursor. @throws ServiceError VALIDATION_ERROR for a cursor of another list */
export function readPosition<Position>({
  cursors,
  binding,
  cursor,
  position,
}: {
  cursors: CursorCodec
  binding: unknown
  cursor: string
  position: z.ZodType<Position>
}): Position {
  const parsed = position.safeParse(cursors.decode(binding, cursor))
  if (!parsed.success) throw invalidField('cursor', 'is damaged or belongs to another list')
  return parsed.data
}

/** The answer to a request for a page, each of its items presented. */
export function answerPage<Item, Shown>({ items, nextCursor }: Page<Item>, present: (item: Item) => Shown) {
  return { status: 200, body: { data: items.map(present), next_cursor: nextCursor } }
}
