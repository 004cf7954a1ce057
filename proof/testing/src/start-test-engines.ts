import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMongodb } from '@pitboss/engines/start-mongodb'
import { startNats } from '@pitboss/engines/start-nats'
import { MongoClient } from 'mongodb'
import { z } from 'zod'

/** Content of PITBOSS_TEST_ENGINES, as JSON: one pair of engines for all processes of a test run. */
export const testEnginesSchema = z.object({
  mongodb_url: z.string(),
  nats_url: z.string(),
  /** Accounts `T0`, `T1`, … with one user `t0`, `t1`, … each, password `t`. */
  nats_accounts: z.number().int().positive(),
  /** Begins the names of all databases of this run. */
  database_prefix: z.string(),
  /** Folder in which processes note which account they hold. */
  claims_dir: z.string(),
})

export type TestEngines = z.infer<typeof testEnginesSchema>

export const testPassword = 't'

/**
 * Starts a pair of engines with empty data folders that are removed when they stop. They sync nothing: a kill
 * of a process leaves the page cache, and suites about durability start engines of their own. `MONGODB_URL`
 * chooses the database as everywhere; the databases of this run are dropped from it at the end. The broker is
 * always one of our own, because each suite needs an account.
 */
export async function startTestEngines(accounts: number): Promise<{
  engines: TestEngines
  description: string
  stop: () => Promise<void>
}> {
  const folder = mkdtempSync(join(tmpdir(), 'pitboss-test-'))
  // the database may run as another user than this one, who must be able to pass
  chmodSync(folder, 0o755)
  const { NATS_URL: _, ...env } = process.env
  const users = Array.from({ length: accounts }, (_unused, index) => ({
    name: `T${index}`,
    users: [{ name: `t${index}`, password: testPassword }],
  }))
  const [mongodb, nats] = await Promise.allSettled([
    startMongodb({ dataDir: join(folder, 'mongodb'), durable: false, env }),
    startNats({ dataDir: folder, accounts: users, durable: false, env }),
  ])
  const databasePrefix = `t${randomBytes(4).toString('hex')}`
  const stop = async () => {
    if (mongodb.status === 'fulfilled' && mongodb.value.kind === 'external')
      await dropDatabases(mongodb.value.url, databasePrefix)
    const started = [mongodb, nats].flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    await Promise.all(started.map((engine) => engine.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  if (mongodb.status === 'rejected' || nats.status === 'rejected') {
    await stop()
    throw mongodb.status === 'rejected' ? mongodb.reason : nats.status === 'rejected' ? nats.reason : null
  }
  const claims = join(folder, 'claims')
  mkdirSync(claims)
  return {
    engines: {
      mongodb_url: mongodb.value.url,
      nats_url: nats.value.url,
      nats_accounts: accounts,
      database_prefix: databasePrefix,
      claims_dir: claims,
    },
    description: `${mongodb.value.kind} ${mongodb.value.version} and nats-server ${nats.value.version} (${nats.value.kind})`,
    stop,
  }
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = new MongoClient(url)
  try {
    const filter = { name: { $regex: `^${prefix}` } }
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true, filter })
    for (const { name } of databases) await client.db(name).dropDatabase()
  } finally {
    await client.close()
  }
}
