import { join } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { startDocumentDb } from './documentdb/start-documentdb.ts'
import { type EngineLogger, silentLogger } from './engine-logger.ts'
import { createProgress, type Progress } from './fetch/progress.ts'
import { chooseMongodb, documentDbDataName, mongodFolderName } from './mongodb/choose-mongodb.ts'
import { mongoServerVersion } from './mongodb/external-server.ts'
import { runMongod } from './mongodb/run-mongod.ts'

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
  env?: NodeJS.ProcessEnv
  logger?: EngineLogger
  progress?: Progress
}): Promise<MongoEngine> {
  const { dataDir, env = process.env, logger = silentLogger, progress = createProgress() } = options
  const cacheDir = cacheFolder(env)
  const choice = await chooseMongodb({ env, cacheDir, dataDir, progress })
  const port = options.port === undefined ? {} : { port: options.port }
  const { kind, reason } = choice
  switch (choice.kind) {
    case 'external':
      return {
        url: choice.url,
        kind,
        version: await mongoServerVersion(choice.url),
        reason,
        stop: async () => {},
      }
    case 'documentdb': {
      const running = await startDocumentDb({
        dataDir: join(dataDir, documentDbDataName),
        cacheDir,
        logger,
        progress,
        ...port,
      })
      return {
        url: running.url,
        kind,
        version: await mongoServerVersion(running.url),
        reason,
        stop: running.stop,
      }
    }
    default: {
      const running = await runMongod({
        program: choice.program,
        dataDir: join(dataDir, mongodFolderName),
        logger,
        ...port,
      })
      return { url: running.url, kind, version: running.version, reason, stop: running.stop }
    }
  }
}
