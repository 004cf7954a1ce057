import { withinBytes } from '@pitboss/storage/read-page'
import type { DataPage } from '../hooks.ts'

const pageMax = 100

/** Reads a page of one kind of a player's records. Source: docs/data.md. */
export async function dataPage<Item>({
  read,
  positionOf,
  present,
  bytesOf = () => 0,
}: {
  read: (max: number) => Promise<readonly Item[]>
  positionOf: (item: Item) => string
  present: (item: Item) => Record<string, unknown>
  bytesOf?: (item: Item) => number
}): Promise<DataPage> {
  const found = await read(pageMax + 1)
  const items = withinBytes(found.slice(0, pageMax), bytesOf)
  const last = items.at(-1)
  const next = found.length > items.length && last !== undefined ? positionOf(last) : null
  return { data: items.map(present), next }
}
