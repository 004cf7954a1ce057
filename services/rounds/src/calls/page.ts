import { invalidField } from '@pitboss/errors/service-error'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { z } from 'zod'

const dayMs = 24 * 60 * 60 * 1000
const windowDays = 7
/** An answer travels in one message of at most 1 MiB. */
const pageBytesMax = 600_000

/**
 * One page of a list that runs down by an ordered key. Asks for one item more than fits, to know whether anything follows.
 * @param binding what the cursor is bound to: list, filters, account and environment.
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
  query: { limit: number; cursor?: string | undefined }
  position: z.ZodType<Position>
  read: (before: Position | null, max: number) => Promise<Item[]>
  positionOf: (item: Item) => Position
  /** About how many bytes of the answer an item takes, where items may be large. */
  bytesOf?: (item: Item) => number
}): Promise<{ items: Item[]; nextCursor: string | null }> {
  const before = cursor === undefined ? null : readPosition(cursors.decode(binding, cursor), position)
  const found = await read(before, limit + 1)
  const items = withinBytes(found.slice(0, limit), bytesOf)
  const last = items.at(-1)
  const more = found.length > items.length && last !== undefined
  return { items, nextCursor: more ? cursors.encode(binding, positionOf(last)) : null }
}

/** As many items as go into one answer, at least one; the cursor leads to the others. */
function withinBytes<Item>(items: readonly Item[], bytesOf: (item: Item) => number): Item[] {
  const taken: Item[] = []
  let bytes = 0
  for (const item of items) {
    bytes += bytesOf(item)
    if (taken.length > 0 && bytes > pageBytesMax) break
    taken.push(item)
  }
  return taken
}

function readPosition<Position>(value: unknown, schema: z.ZodType<Position>): Position {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw invalidField('cursor', 'is damaged or belongs to another list')
  return parsed.data
}

/** A list's time window; only `to` given means the seven days before it. Contract section 11. */
export function readWindow({ from, to }: { from?: string | undefined; to?: string | undefined }): {
  from: Date | undefined
  to: Date | undefined
} {
  const end = to === undefined ? undefined : new Date(to)
  if (from !== undefined) return { from: new Date(from), to: end }
  return { from: end === undefined ? undefined : new Date(end.getTime() - windowDays * dayMs), to: end }
}
