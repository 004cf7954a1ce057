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
export async function readPage<Item, Position extends string | number = string>({
  cursors,
  binding,
  query: { limit, cursor },
  read,
  positionOf,
  bytesOf = () => 0,
}: {
  cursors: CursorCodec
  binding: unknown
  query: PageQuery
  read: (before: Position | null, max: number) => Promise<Item[]>
  positionOf: (item: Item) => Position
  /** The approximate bytes of an item in the answer, where items may be large. */
  bytesOf?: (item: Item) => number
}): Promise<Page<Item>> {
  // Signed over this list, so it is what `positionOf` has given.
  const before = cursor === undefined ? null : (cursors.decode(binding, cursor) as Position)
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

const operatedMax = 100

/** Reads a page for operations, without a cursor: with where the next one begins; null for the last. */
export async function dataPage<Item extends { readonly _id: string } | { readonly id: string }, Shown>(
  read: (max: number) => Promise<readonly Item[]>,
  present: (item: Item) => Shown,
  {
    limit = operatedMax,
    positionOf = (item) => ('_id' in item ? item._id : item.id),
    bytesOf = () => 0,
  }: { limit?: number; positionOf?: (item: Item) => string; bytesOf?: (item: Item) => number } = {},
): Promise<{ data: Shown[]; next: string | null }> {
  const found = await read(limit + 1)
  const items = withinBytes(found.slice(0, limit), bytesOf)
  const last = found.length > items.length ? items.at(-1) : undefined
  return { data: items.map(present), next: last === undefined ? null : positionOf(last) }
}

/** The answer to a request for a page, each of its items presented. */
export function answerPage<Item, Shown>({ items, nextCursor }: Page<Item>, present: (item: Item) => Shown) {
  return { status: 200, body: { data: items.map(present), next_cursor: nextCursor } }
}
