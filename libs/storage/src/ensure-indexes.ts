import { type Db, type Document, type IndexDescription, MongoServerError } from 'mongodb'
import type { Logger } from 'pino'
import { readBuilds } from './index-builds.ts'
import { differenceOf, readIndexes } from './read-indexes.ts'

/** One index as a service declares it. */
export type IndexDeclaration = {
  readonly key: Readonly<Record<string, 1 | -1>>
  readonly name: string
  readonly unique?: boolean
  readonly partialFilterExpression?: Document
  readonly expireAfterSeconds?: number
  /** True for an index of an earlier release, whatever its form: it is dropped once the others are there. */
  readonly retired?: boolean
}

/** An index of the documents that `filter` matches: a look costs the same beside a million others. */
export function partialIndex(name: string, key: IndexDeclaration['key'], filter: Document): IndexDeclaration {
  return { name, key, partialFilterExpression: filter }
}

/** The indexes of a database, by collection. */
export type IndexDeclarations = Readonly<Record<string, readonly IndexDeclaration[]>>

/** How often a build under way is logged. Source: ours. */
const progressEveryMs = 10_000
const namespaceExists = 48
const indexNotFound = 27

/**
 * Makes the declared collections and indexes. Repeating it, also from two replicas at once, changes nothing.
 * An index that is being built, by another replica or since before a restart, guards nothing yet: its build
 * is joined and waited for. So give it a connection without a time-out (`patiently`). What is built is
 * logged, every ten seconds. An index that is not declared is logged, so that a version which lacks it can be
 * started again. On a sharded cluster the log names the collections that must stay unsharded.
 * @param options.drops false leaves indexes of an earlier release, whose replicas may still run
 * @throws Error naming the index when one of that name exists with another definition, or when a unique one
 * exists that is not declared: what may be written rests on those, so a person must resolve it.
 */
export async function ensureIndexes(
  db: Db,
  declarations: IndexDeclarations,
  logger?: Pick<Logger, 'warn' | 'info'>,
  { drops = true }: { drops?: boolean } = {},
): Promise<void> {
  const { msg } = await db.command({ hello: 1 })
  if (msg === 'isdbgrid') logger?.warn({ collections: unshardable(declarations) }, 'database.keep-unsharded')
  const there = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name))
  for (const [collection, indexes] of Object.entries(declarations)) {
    if (!there.has(collection)) await ensureCollection(db, collection)
    const present = await readIndexes(db, collection)
    refuseDrift(collection, indexes, present)
    const unknown = present.map(({ name }) => String(name)).filter((name) => !isKnown(name, indexes))
    if (unknown.length > 0) logger?.warn({ collection, indexes: unknown }, 'database.unknown-indexes')
    const names = new Set(present.map((index) => String(index.name)))
    const building = new Set(present.filter(({ isBuilding }) => isBuilding).map(({ name }) => String(name)))
    const absent = indexes.filter(
      ({ name, retired }) => retired !== true && (!names.has(name) || building.has(name)),
    )
    if (absent.length > 0) {
      await buildIndexes(db, collection, absent, { there: there.has(collection), logger })
      refuseDrift(collection, indexes, await readIndexes(db, collection))
    }
    const retired = indexes.filter((index) => drops && index.retired === true && names.has(index.name))
    for (const { name } of retired) await dropIndex(db, collection, name)
  }
}

async function ensureCollection(db: Db, name: string): Promise<void> {
  try {
    await db.createCollection(name)
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== namespaceExists) throw error
  }
}

/** Builds them, or joins their builds; of a collection that was there before it logs how long that takes. */
async function buildIndexes(
  db: Db,
  collection: string,
  absent: readonly IndexDeclaration[],
  { there, logger }: { there: boolean; logger: Pick<Logger, 'warn' | 'info'> | undefined },
): Promise<void> {
  const startedAtMs = performance.now()
  const fields = { collection, indexes: absent.map(({ name }) => name) }
  let isOver = false
  const say = (event: string, more: object = {}) =>
    logger?.info(
      { ...fields, elapsed_s: Math.round((performance.now() - startedAtMs) / 1000), ...more },
      event,
    )
  const sayProgress = async () => {
    const progress = (await readBuilds(db)).get(collection)
    if (!isOver) say('database.indexes-building', progress)
  }
  const saying = setInterval(() => {
    sayProgress().catch((err: unknown) => logger?.warn({ ...fields, err }, 'database.build-unseen'))
  }, progressEveryMs)
  try {
    await db.collection(collection).createIndexes(absent.map(toIndexDescription))
  } finally {
    isOver = true
    clearInterval(saying)
  }
  if (there) say('database.indexes-built')
}

/** Another replica may have dropped it in the meantime. */
async function dropIndex(db: Db, collection: string, name: string): Promise<void> {
  try {
    await db.collection(collection).dropIndex(name)
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== indexNotFound) throw error
  }
}

function toIndexDescription(index: IndexDeclaration): IndexDescription {
  return { ...index, key: { ...index.key } }
}

function isKnown(name: string, declared: readonly IndexDeclaration[]): boolean {
  return name === '_id_' || declared.some((index) => index.name === name)
}

/** A unique index holds over one shard alone unless the shard key is its prefix, which none of ours has. */
function unshardable(declarations: IndexDeclarations): string[] {
  return Object.keys(declarations).filter((name) =>
    declarations[name]?.some(({ unique, retired }) => unique === true && retired !== true),
  )
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
    if (wanted === undefined) {
      if (index.unique !== true) continue
      throw new Error(`unique index ${collection}.${name} exists but is not declared`)
    }
    const difference = wanted.retired === true ? null : differenceOf(wanted, index)
    if (difference !== null)
      throw new Error(`index ${collection}.${name} differs from its declaration in ${difference}`)
  }
}
