import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Db, MongoClient } from 'mongodb'
import { countMadeDatabase } from './made-databases.ts'
import type { TestEngines } from './start-test-engines.ts'

/** Databases that every suite of a service has alike. */
const lent = /^_(auth|rounds|wallet_bridge|webhooks)$/

/**
 * Returns the databases of a prefix: the services' own without a document, the others dropped.
 * @throws Error when a database is written to after it was emptied: a service still runs.
 */
export async function emptyDatabases(
  { mongodb_url, claims_dir }: TestEngines,
  prefix: string,
  { dropAll }: { dropAll: boolean },
): Promise<void> {
  const client = new MongoClient(mongodb_url, { retryWrites: false })
  try {
    const filter = { name: { $regex: `^${prefix}_` } }
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true, filter })
    await Promise.all(
      databases.map(async ({ name }) => {
        const keeps = !dropAll && lent.test(name.slice(prefix.length))
        if (noteMade(claims_dir, name, keeps)) countMadeDatabase()
        if (keeps) await emptyCollections(client.db(name))
        else await client.db(name).dropDatabase()
      }),
    )
  } finally {
    await client.close()
  }
}

/** Deletes all documents of a database; collections and indexes stay. */
export async function emptyCollections(db: Db): Promise<void> {
  const full = await fullCollections(db)
  await Promise.all(full.map((name) => db.collection(name).deleteMany({})))
  const left = full.length === 0 ? [] : await fullCollections(db)
  if (left.length > 0)
    throw new Error(`${db.databaseName} is still written to by what the test left: ${left.join(', ')}`)
}

/** The collections of a database that have a document. */
export async function fullCollections(db: Db): Promise<string[]> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray()
  return withDocuments(
    db,
    collections.map(({ name }) => name),
  )
}

/** The collections that have a document, by one command. */
async function withDocuments(db: Db, [first, ...others]: readonly string[]): Promise<string[]> {
  if (first === undefined) return []
  const oneOf = (name: string) => [{ $limit: 1 }, { $project: { _id: 0, name: { $literal: name } } }]
  const unions = others.map((name) => ({ $unionWith: { coll: name, pipeline: oneOf(name) } }))
  const found = await db
    .collection(first)
    .aggregate<{ name: string }>([...oneOf(first), ...unions])
    .toArray()
  return found.map(({ name }) => name)
}

/** Whether this database was made by the suite that returns it. */
function noteMade(folder: string, name: string, keeps: boolean): boolean {
  const notes = join(folder, 'databases')
  const known = keeps && existsSync(notes) && readFileSync(notes, 'utf8').split('\n').includes(name)
  if (known) return false
  if (keeps) appendFileSync(notes, `${name}\n`)
  return true
}
