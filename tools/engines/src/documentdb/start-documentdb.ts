import { join, resolve } from 'node:path'
import { type EngineLogger, silentLogger } from '../engine-logger.ts'
import { createProgress, type Progress } from '../fetch/progress.ts'
import { freePort, requireFreePort } from '../processes/free-port.ts'
import { openDataFolder } from '../processes/open-data-folder.ts'
import { type Supervised, supervise } from '../processes/supervise.ts'
import { copyTemplate } from './data-template.ts'
import { endLeftovers } from './end-leftovers.ts'
import { fetchDocumentDb } from './fetch-documentdb.ts'
import { startGateway } from './gateway-process.ts'
import { postgresIdentity } from './postgres-identity.ts'
import { startPostgres } from './postgres-process.ts'
import { socketFolderFor } from './socket-folder.ts'

export type DocumentDb = {
  url: string
  postgresPid: () => number
  gatewayPid: () => number
  stop: () => Promise<void>
}

/**
 * Starts PostgreSQL with DocumentDB and the gateway that speaks MongoDB's protocol, both supervised: a killed
 * one is back within a second, on the same port. Ends both, and leaves no socket, on `stop()`, which may be
 * called twice.
 * @param options.port of the gateway on 127.0.0.1; 0 or absent: a free one.
 * @throws EngineError that says what is wrong: port taken, folder in use, disk full, no way to fetch.
 */
export async function startDocumentDb(options: {
  dataDir: string
  cacheDir: string
  port?: number
  logger?: EngineLogger
  progress?: Progress
}): Promise<DocumentDb> {
  const { cacheDir, logger = silentLogger, progress = createProgress() } = options
  const dataDir = resolve(options.dataDir)
  const port = options.port ? await requireFreePort(options.port, 'the database') : await freePort()
  const programs = await fetchDocumentDb(cacheDir, progress)
  progress.done()
  const socketFolder = socketFolderFor(dataDir)
  const dataPath = join(dataDir, 'data')
  const folder = await openDataFolder(dataDir, { socketFolder, dataPath })
  const started: Supervised[] = []
  let stopping: Promise<void> | null = null
  const stop = () => {
    stopping ??= (async () => {
      for (const part of started.reverse()) await part.stop()
      endLeftovers(dataPath)
      await folder.close()
    })()
    return stopping
  }
  try {
    endLeftovers(dataPath)
    const identity = postgresIdentity([programs, dataDir], dataPath)
    await copyTemplate(programs, dataPath, identity)
    const { record } = folder
    const postgres = await supervise({
      name: 'postgres',
      start: (signal) =>
        startPostgres({
          programs,
          dataPath,
          socketFolder,
          logPath: join(dataDir, 'postgres.log'),
          identity,
          record,
          signal,
        }),
      logger,
    })
    started.push(postgres)
    const gateway = await supervise({
      name: 'documentdb-gateway',
      start: () => startGateway({ socketFolder, port, logPath: join(dataDir, 'gateway.log'), record }),
      logger,
    })
    started.push(gateway)
    return {
      url: `mongodb://127.0.0.1:${port}/?replicaSet=rs0`,
      postgresPid: postgres.pid,
      gatewayPid: gateway.pid,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
