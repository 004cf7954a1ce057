import { ConfigError } from '@pitboss/runtime/load-config'
import { type MongoClient, MongoServerError } from 'mongodb'

/** The services with a database. */
const services = ['auth', 'rounds', 'wallet-bridge', 'webhooks'] as const

/** Codes of a refusal for lack of rights or of a login. */
const refusals: readonly unknown[] = [13, 18]
const readMaxMs = 3000

/** The name of a service's database. */
export function databaseOf(prefix: string, service: string): string {
  return `${prefix}_${service.replaceAll('-', '_')}`
}

/**
 * Refuses a database login that lists or reads the database of another service: whoever breaks into one
 * service would have the sealed secrets of all. Source: docs/decisions/2026-11-23-keys-of-one-service.md.
 * @throws ConfigError naming the variable and the databases
 */
export async function assertOwnDatabaseAlone(
  client: Pick<MongoClient, 'db'>,
  { prefix, service }: { prefix: string; service: string },
): Promise<void> {
  const foreign = services.filter((one) => one !== service).map((one) => databaseOf(prefix, one))
  const listed = await listedDatabases(client)
  const reached: string[] = []
  for (const name of foreign) if (listed.includes(name) || (await canRead(client, name))) reached.push(name)
  if (reached.length === 0) return
  const own = databaseOf(prefix, service)
  const problem = `its login reaches ${reached.join(', ')}, the data of other services. Give ${service} a user of its own with the role readWrite on ${own} alone (deploy/k8s/README.md has the commands)`
  throw new ConfigError([{ variable: 'MONGODB_URL', problem }])
}

/** The databases that the login may see. */
async function listedDatabases(client: Pick<MongoClient, 'db'>): Promise<string[]> {
  const found = await unlessRefused(() => client.db('admin').command({ listDatabases: 1, nameOnly: true }))
  const databases: unknown = found?.databases
  return Array.isArray(databases) ? databases.map(({ name }: { name?: unknown }) => String(name)) : []
}

async function canRead(client: Pick<MongoClient, 'db'>, database: string): Promise<boolean> {
  const read = { find: 'master_keys', limit: 1, maxTimeMS: readMaxMs }
  return (await unlessRefused(() => client.db(database).command(read))) !== null
}

/** The answer; null when the server refuses it for lack of rights. */
async function unlessRefused<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof MongoServerError && refusals.includes(error.code)) return null
    throw error
  }
}
