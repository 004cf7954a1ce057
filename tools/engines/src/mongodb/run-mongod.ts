import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { MongoClient } from 'mongodb'
import { EngineError, reasonOf } from '../engine-error.ts'
import {
  type EngineLogger,
  type EngineProcess,
  lastWords,
  startEngineProcess,
  supervise,
} from '../processes/engine-process.ts'
import { choosePort } from '../processes/free-port.ts'
import { openDataFolder } from '../processes/open-data-folder.ts'
import { waitUntil } from '../processes/wait-until.ts'

export type RunningMongod = { url: string; stop: () => Promise<void> }

const setName = 'rs0'
const readyTimeoutMs = 60_000
const commandTimeoutMs = 2_000
const notYetInitialised = 94
const mongodArgs = ['--bind_ip', '127.0.0.1', '--nounixsocket']

/**
 * Runs a real mongod as a replica set of one node, supervised: a killed one is back on the same port.
 * @throws EngineError with the server's own last words when it does not start.
 */
export async function runMongod(options: {
  program: string
  dataDir: string
  port?: number | undefined
  logger: EngineLogger
}): Promise<RunningMongod> {
  const { program, logger } = options
  const dataDir = resolve(options.dataDir)
  const port = await choosePort(options.port, 'the database')
  const folder = await openDataFolder(dataDir)
  try {
    const dbPath = join(dataDir, 'data')
    mkdirSync(dbPath, { recursive: true, mode: 0o700 })
    const logPath = join(dataDir, 'mongod.log')
    const server = await supervise({
      name: 'mongod',
      start: async (signal) => {
        const started = await startEngineProcess(
          {
            name: 'mongod',
            program,
            args: ['--dbpath', dbPath, '--replSet', setName, '--port', String(port), ...mongodArgs],
            logPath,
            endBy: [{ signal: 'SIGTERM', waitMs: 20_000 }],
          },
          folder.record,
        )
        await becomePrimary(started, port, logPath, signal)
        return started
      },
      logger,
    })
    let stopping: Promise<void> | null = null
    const stop = () => {
      stopping ??= server.stop().then(() => folder.close())
      return stopping
    }
    return { url: `mongodb://127.0.0.1:${port}/?replicaSet=${setName}`, stop }
  } catch (error) {
    await folder.close()
    throw error
  }
}

async function becomePrimary(
  server: EngineProcess,
  port: number,
  logPath: string,
  signal: AbortSignal,
): Promise<string> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}`, {
    directConnection: true,
    serverSelectionTimeoutMS: commandTimeoutMs,
  })
  let obstacle = ''
  try {
    const version = await waitUntil<string>(
      async () => {
        if (server.hasExited()) return ''
        try {
          return await initialise(client, `127.0.0.1:${port}`)
        } catch (error) {
          obstacle = reasonOf(error)
          return null
        }
      },
      { timeoutMs: readyTimeoutMs, everyMs: 50, signal },
    )
    if (version) return version
    await server.end()
    throw new EngineError(`mongod did not start: ${obstacle} ${lastWords(logPath, 40, /"s":"[FE]"/)}`)
  } finally {
    await client.close()
  }
}

/**
 * The version when the server takes writes, null when not yet; makes or moves the replica set when it must.
 */
async function initialise(client: MongoClient, host: string): Promise<string | null> {
  const admin = client.db('admin')
  const hello = await admin.command({ hello: 1 })
  if (hello.isWritablePrimary === true && hello.me === host)
    return String((await admin.command({ buildInfo: 1 })).version)
  const config = await currentConfig(client)
  const members = [{ _id: 0, host }]
  if (config === null) await admin.command({ replSetInitiate: { _id: setName, members } })
  // the port may be another than last time; a set of one node may simply be told so
  else if (config.members[0]?.host !== host) {
    await admin.command({ replSetReconfig: { ...config, version: config.version + 1, members }, force: true })
  }
  return null
}

type SetConfig = { version: number; members: { host: string }[] }

async function currentConfig(client: MongoClient): Promise<SetConfig | null> {
  try {
    const { config } = await client.db('admin').command({ replSetGetConfig: 1 })
    return config
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === notYetInitialised) return null
    throw error
  }
}
