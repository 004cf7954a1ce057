import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Db, MongoClient } from 'mongodb'
import { countMadeDatabase } from './made-databases.ts'
import type { TestEngines } from './start-test-engines.ts'

/** Databases that every suite of a service has alike. */
const lent = /_(auth|rounds|wallet_bridge|webhooks)$/

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

async function emptyCollections(db: Db): Promise<void> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray()
  await Promise.all(
    collections.map(async ({ name }) => {
      const collection = db.collection(name)
      const { deletedCount } = await collection.deleteMany({})
      if (deletedCount === 0) return
      const left = await collection.findOne({})
      if (left !== null) throw new Error(`${db.databaseName}.${name} is still written to by what the test left`)
    }),
  )
}

/** Whether this database was made by the suite that returns it. */
function noteMade(folder: string, name: string, keeps: boolean): boolean {
  const notes = join(folder, 'databases')
  const known = keeps && existsSync(notes) && readFileSync(notes, 'utf8').split('\n').includes(name)
  if (known) return false
  if (keeps) appendFileSync(notes, `${name}\n`)
  return true
}
