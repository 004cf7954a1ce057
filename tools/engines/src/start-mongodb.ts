import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { startDocumentDb } from './documentdb/start-documentdb.ts'
import { EngineError, reasonOf } from './engine-error.ts'
import { cacheFolder } from './engine-settings.ts'
import { createProgress, type Progress } from './fetch/progress.ts'
import { chooseMongodb, documentDbDataName, mongodFolderName } from './mongodb/choose-mongodb.ts'
import { runMongod } from './mongodb/run-mongod.ts'
import { type EngineLogger, silentLogger } from './processes/engine-process.ts'

export type MongoEngine = {
  url: string
  kind: 'external' | 'mongod' | 'mongodb-memory-server' | 'documentdb'
  version: string
  /** Reason for this engine, for the line that names it. */
  reason: string
  stop: () => Promise<void>
}

/**
 * Gives a database: the first of `MONGODB_URL`, a `mongod` of the machine, a fetched MongoDB, DocumentDB.
 * State of the ones that are started here lies below `dataDir`, in a folder per kind.
 * @throws EngineError that says what is wrong and what helps.
 */
export async function startMongodb(options: {
  dataDir: string
  port?: number
  /** Whether DocumentDB asks clients for the login that its url holds. */
  withLogin?: boolean
  /** Whether DocumentDB syncs what it acknowledges; it does unless false, which only tests say. */
  durable?: boolean
  env?: NodeJS.ProcessEnv
  logger?: EngineLogger
  progress?: Progress
}): Promise<MongoEngine> {
  const { dataDir, env = process.env, logger = silentLogger, progress = createProgress() } = options
  const cacheDir = cacheFolder(env)
  const choice = await chooseMongodb({ env, cacheDir, dataDir, progress })
  const { kind, reason } = choice
  if (choice.kind === 'external') {
    const version = await mongoServerVersion(choice.url)
    return { url: choice.url, kind, version, reason, stop: async () => {} }
  }
  const { port, withLogin, durable } = options
  const { url, stop } =
    choice.kind === 'documentdb'
      ? await startDocumentDb({
          dataDir: join(dataDir, documentDbDataName),
          cacheDir,
          port,
          withLogin,
          durable,
          logger,
          progress,
        })
      : await runMongod({ program: choice.program, dataDir: join(dataDir, mongodFolderName), port, logger })
  return { url, kind, version: await mongoServerVersion(url), reason, stop }
}

const timeoutMs = 5_000

/**
 * The version of a running MongoDB.
 * @throws EngineError when it does not answer within 5 s.
 */
async function mongoServerVersion(url: string): Promise<string> {
  let client: MongoClient | null = null
  try {
    client = new MongoClient(url, { serverSelectionTimeoutMS: timeoutMs, connectTimeoutMS: timeoutMs })
    const { version } = await client.db('admin').command({ buildInfo: 1 })
    return String(version)
  } catch (error) {
    throw new EngineError(`the database of MONGODB_URL cannot be used: ${reasonOf(error)}`)
  } finally {
    await client?.close()
  }
}
