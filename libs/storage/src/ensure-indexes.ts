import { type Db, type Document, type IndexDescription, MongoServerError } from 'mongodb'

/** One index as a service declares it. */
export type IndexDeclaration = {
  readonly key: Readonly<Record<string, 1 | -1>>
  readonly name: string
  readonly unique?: boolean
  readonly partialFilterExpression?: Document
  readonly expireAfterSeconds?: number
}

const namespaceExists = 48

/**
 * Makes the declared collections and indexes. Repeating it, also from two replicas at once, changes nothing.
 * @throws Error naming the index when one of that name exists with another definition, or when one exists
 * that is not declared: uniqueness rests on indexes, so a drift must be resolved by a person.
 */
export async function ensureIndexes(
  db: Db,
  declarations: Readonly<Record<string, readonly IndexDeclaration[]>>,
): Promise<void> {
  for (const [collection, indexes] of Object.entries(declarations)) {
    await ensureCollection(db, collection)
    const present = await db.collection(collection).listIndexes().toArray()
    refuseDrift(collection, indexes, present)
    const names = new Set(present.map((index) => String(index.name)))
    const absent = indexes.filter((index) => !names.has(index.name))
    if (absent.length === 0) continue
    await db.collection(collection).createIndexes(absent.map(toIndexDescription))
    refuseDrift(collection, indexes, await db.collection(collection).listIndexes().toArray())
  }
}

async function ensureCollection(db: Db, name: string): Promise<void> {
  try {
    await db.createCollection(name)
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== namespaceExists) throw error
  }
}

function toIndexDescription(index: IndexDeclaration): IndexDescription {
  return { ...index, key: { ...index.key } }
}

function refuseDrift(
  collection: string,
  declared: readonly IndexDeclaration[],
  present: readonly Document[],
): void {
  const byName = new Map(declared.map((index) => [index.name, index]))
  for (const index of present) {
    const name = String(index.name)
    if (name === '_id_') continue
    const wanted = byName.get(name)
    if (wanted === undefined) throw new Error(`index ${collection}.${name} exists but is not declared`)
    const difference = differing(wanted, index)
    if (difference !== null)
      throw new Error(`index ${collection}.${name} differs from its declaration in ${difference}`)
  }
}

function differing(wanted: IndexDeclaration, present: Document): string | null {
  if (canonical(wanted.key) !== canonical(present.key)) return 'key'
  if ((wanted.unique ?? false) !== (present.unique ?? false)) return 'unique'
  if (canonical(wanted.partialFilterExpression) !== canonical(present.partialFilterExpression)) {
    return 'partialFilterExpression'
  }
  if (canonical(wanted.expireAfterSeconds) !== canonical(present.expireAfterSeconds))
    return 'expireAfterSeconds'
  return null
}

/** Key order counts in an index, so it is kept; numbers of any width are alike. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, field: unknown) =>
    typeof field === 'bigint' ? Number(field) : field,
  )
}
