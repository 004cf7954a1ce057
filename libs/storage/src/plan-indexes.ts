import type { Db } from 'mongodb'
import { z } from 'zod'
import type { IndexDeclarations } from './ensure-indexes.ts'
import { readBuilds } from './index-builds.ts'
import { differenceOf, readIndexes } from './read-indexes.ts'

/** `differs` and `undeclared` need a person where a start refuses them; `to-drop` goes at a start. */
type IndexState = 'there' | 'missing' | 'building' | 'to-drop' | 'differs' | 'undeclared'

export type PlannedIndex = {
  readonly collection: string
  readonly index: string
  readonly state: IndexState
  /** Whether a start of this build refuses to go on for its sake. */
  readonly refused: boolean
  /** Of the build's present step, from 0 to 1; null where none is under way or the login does not see it. */
  readonly progress: number | null
  /** Documents of the collection, and their bytes without compression. */
  readonly documents: number
  readonly bytes: number
}

const statistics = z.looseObject({ count: z.coerce.number(), size: z.coerce.number() })

/** Compares declared and present indexes, by collection, and changes nothing; first what is declared. */
export async function planIndexes(db: Db, declarations: IndexDeclarations): Promise<PlannedIndex[]> {
  const there = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name))
  const builds = await readBuilds(db)
  const rows: PlannedIndex[] = []
  for (const [collection, declared] of Object.entries(declarations)) {
    const isThere = there.has(collection)
    const present = new Map(
      (isThere ? await readIndexes(db, collection) : []).map((index) => [String(index.name), index]),
    )
    const { count, size } = isThere
      ? statistics.parse(await db.command({ collStats: collection }))
      : { count: 0, size: 0 }
    const row = (index: string, state: IndexState, refused = false) => {
      const build = state === 'building' ? builds.get(collection) : undefined
      const progress = build === undefined || build.total <= 0 ? null : build.done / build.total
      rows.push({ ...{ collection, index, state, refused, progress }, documents: count, bytes: size })
    }
    for (const wanted of declared) {
      const found = present.get(wanted.name)
      if (wanted.retired === true && found === undefined) continue
      if (found === undefined) row(wanted.name, 'missing')
      else if (wanted.retired === true) row(wanted.name, 'to-drop')
      else if (differenceOf(wanted, found) !== null) row(wanted.name, 'differs', true)
      else row(wanted.name, found.isBuilding ? 'building' : 'there')
    }
    const names = new Set(['_id_', ...declared.map(({ name }) => name)])
    for (const [name, index] of present) if (!names.has(name)) row(name, 'undeclared', index.unique === true)
  }
  return rows
}
