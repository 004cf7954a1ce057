import { withinBytes } from '@pitboss/storage/read-page'
import type { DataPage } from '../hooks.ts'

const pageMax = 100

/** Reads a page of one kind of a player's records. Source: docs/data.md. */
export async function dataPage<Item>(of: {
  readonly read: (max: number) => Promise<readonly Item[]>
  readonly positionOf: (item: Item) => string
  readonly present: (item: Item) => Record<string, unknown>
  readonly bytesOf?: (item: Item) => number
}): Promise<DataPage> {
  const { read, positionOf, present, bytesOf = () => 0 } = of
  const found = await read(pageMax + 1)
  const items = withinBytes(found.slice(0, pageMax), bytesOf)
  const last = items.at(-1)
  const next = found.length > items.length && last !== undefined ? positionOf(last) : null
  return { data: items.map(present), next }
}
