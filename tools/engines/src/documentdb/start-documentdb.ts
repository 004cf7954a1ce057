import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EngineError } from '../engine-error.ts'
import { createProgress, type Progress } from '../fetch/progress.ts'
import {
  type EngineLogger,
  type EngineProcess,
  silentLogger,
  startEngineProcess,
  supervise,
  type Supervised,
} from '../processes/engine-process.ts'
import { choosePort } from '../processes/free-port.ts'
import { openDataFolder } from '../processes/open-data-folder.ts'
import type { ProcessRecord } from '../processes/process-record.ts'
import { copyTemplate, fetchDocumentDb } from './fetch-documentdb.ts'
import { socketFolderFor } from './postgres-files.ts'
import { postgresIdentity } from './postgres-identity.ts'
import { endLeftovers, startPostgres } from './postgres-process.ts'

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
  port?: number | undefined
  /** Whether clients log in, with what the url says; else any user of the machine is let in. */
  withLogin?: boolean | undefined
  /** Whether an acknowledged write survives a power cut; it does unless false, which only tests say. */
  durable?: boolean | undefined
  logger?: EngineLogger
  progress?: Progress
}): Promise<DocumentDb> {
  const { cacheDir, logger = silentLogger, progress = createProgress() } = options
  const dataDir = resolve(options.dataDir)
  const port = await choosePort(options.port, 'the database')
  const login = options.withLogin === true ? `pitboss:${randomBytes(24).toString('hex')}` : ''
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
          durable: options.durable,
          signal,
        }),
      logger,
    })
    started.push(postgres)
    const gateway = await supervise({
      name: 'documentdb-gateway',
      start: () => startGateway({ socketFolder, port, login, logPath: join(dataDir, 'gateway.log'), record }),
      logger,
    })
    started.push(gateway)
    return {
      // A retryable write costs a fifth to a third more here, and no service counts on the driver's retry.
      url: `mongodb://${login === '' ? '' : `${login}@`}127.0.0.1:${port}/?replicaSet=rs0&retryWrites=false`,
      postgresPid: postgres.pid,
      gatewayPid: gateway.pid,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const program = fileURLToPath(new URL('./gateway/main.ts', import.meta.url))
const readyTimeoutMs = 15_000

/**
 * Starts the MongoDB wire gateway and waits until it listens. It ends by itself when its input closes, so it
 * cannot outlive this process.
 */
async function startGateway(options: {
  socketFolder: string
  port: number
  login: string
  logPath: string
  record: ProcessRecord
}): Promise<EngineProcess> {
  const { socketFolder, port, login, logPath, record } = options
  const gateway = await startEngineProcess(
    {
      name: 'documentdb-gateway',
      program: process.execPath,
      args: [program],
      env: {
        ...process.env,
        PITBOSS_PG_SOCKET_DIR: socketFolder,
        PITBOSS_DOCUMENTDB_PORT: String(port),
        PITBOSS_DOCUMENTDB_LOGIN: login,
        NODE_OPTIONS: '',
      },
      logPath,
      endBy: [{ signal: 'SIGTERM', waitMs: 3_000 }],
      piped: true,
    },
    record,
  )
  if (await isReady(gateway, port)) return gateway
  await gateway.end()
  throw new EngineError(`the MongoDB gateway of DocumentDB did not start on port ${port}; see ${logPath}`)
}

/** Whether the gateway says that it listens before it ends or the time is over. */
function isReady({ child, exited }: EngineProcess, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), readyTimeoutMs)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (!text.includes(JSON.stringify({ ready: true, port }))) return
      clearTimeout(timer)
      resolve(true)
    })
    void exited.then(() => {
      clearTimeout(timer)
      resolve(false)
    })
  })
}
