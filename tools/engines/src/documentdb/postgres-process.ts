import { chownSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from '../engine-error.ts'
import { type EngineProcess, startEngineProcess } from '../processes/engine-process.ts'
import { isAlive, processStartedAt } from '../processes/process-identity.ts'
import type { ProcessRecord } from '../processes/process-record.ts'
import { waitUntil } from '../processes/wait-until.ts'
import { endLeftovers, runsOn } from './end-leftovers.ts'
import { PostgresConnection } from './gateway/postgres/postgres-connection.ts'
import { postgresConfiguration } from './postgres-configuration.ts'
import { postgresDatabase, postgresFiles, postgresUser, socketName } from './postgres-files.ts'
import type { PostgresIdentity } from './postgres-identity.ts'
import { makeSocketFolder } from './socket-folder.ts'

export type PostgresOptions = {
  programs: string
  dataPath: string
  socketFolder: string
  logPath: string
  identity: PostgresIdentity
  record: ProcessRecord
  signal?: AbortSignal
}

const readyTimeoutMs = 60_000
const lockTimeoutMs = 15_000
/**
 * Backends of a killed postmaster leave within a moment by themselves; one that has not by then never will.
 */
const leaveWithinMs = 2_000
/** Said when a postmaster that was killed has not quite left: its backends hold on for a moment. */
const stillHeld = /lock file "postmaster.pid" already exists|pre-existing shared memory block|could not lock/

/** Nothing of the machine's environment reaches PostgreSQL. */
export const postgresEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/**
 * Starts PostgreSQL and waits until it answers. After a kill the lock of the dying one is waited for.
 * @throws EngineError with the server's own last words.
 */
export async function startPostgres(options: PostgresOptions): Promise<EngineProcess> {
  const startedAt = performance.now()
  const deadline = startedAt + lockTimeoutMs
  for (;;) {
    options.signal?.throwIfAborted()
    try {
      return await startOnce(options)
    } catch (error) {
      const again =
        error instanceof EngineError && stillHeld.test(error.message) && performance.now() < deadline
      if (!again) throw error
      if (performance.now() - startedAt > leaveWithinMs) endLeftovers(options.dataPath)
      await waitUntil(() => null, { timeoutMs: 50, everyMs: 50 })
    }
  }
}

async function startOnce(options: PostgresOptions): Promise<EngineProcess> {
  const { programs, dataPath, socketFolder, logPath, identity, record, signal } = options
  makeSocketFolder(socketFolder, identity.uid)
  removeStaleLock(dataPath)
  const settings = join(dataPath, 'postgresql.auto.conf')
  writeFileSync(settings, postgresConfiguration(socketFolder), { mode: 0o600 })
  if (identity.uid !== null) chownSync(settings, identity.uid, identity.uid)
  const server = await startEngineProcess(
    {
      name: 'postgres',
      ...identity.command(join(postgresFiles(programs).programFolder, 'postgres'), ['-D', dataPath]),
      env: postgresEnvironment,
      cwd: '/',
      logPath,
      endBy: [
        { signal: 'SIGINT', waitMs: 10_000 },
        { signal: 'SIGQUIT', waitMs: 3_000 },
      ],
    },
    record,
  )
  const outcome = await waitUntil<'ready' | 'gone'>(
    async () =>
      server.hasExited() ? 'gone' : (await answers(join(socketFolder, socketName))) ? 'ready' : null,
    { timeoutMs: readyTimeoutMs, everyMs: 20, ...(signal === undefined ? {} : { signal }) },
  )
  if (outcome === 'ready') return server
  await server.end()
  throw new EngineError(`PostgreSQL did not start: ${lastWords(logPath)}`)
}

async function answers(socketPath: string): Promise<boolean> {
  try {
    const connection = await openPostgres(socketPath)
    connection.end()
    return true
  } catch {
    return false
  }
}

/** A connection for our own few statements; the gateway has its own. */
export function openPostgres(socketPath: string): Promise<PostgresConnection> {
  return PostgresConnection.open({
    socketPath,
    user: postgresUser,
    database: postgresDatabase,
    applicationName: 'pitboss-engines',
  })
}

/**
 * PostgreSQL refuses to start when the pid in its lock file lives, even if that pid went to another program
 * since (in a container pids repeat at each start). The folder is ours alone by now, so a pid that does not
 * run on this folder is not its server.
 */
function removeStaleLock(dataPath: string): void {
  const path = join(dataPath, 'postmaster.pid')
  let pid: number
  try {
    pid = Number.parseInt(readFileSync(path, 'utf8'), 10)
  } catch {
    return
  }
  const startedAt = processStartedAt(pid)
  if (startedAt === null || !isAlive(pid, startedAt)) return
  if (!runsOn(pid, dataPath)) rmSync(path, { force: true })
}

function lastWords(logPath: string): string {
  const lines = readFileSync(logPath, 'utf8').trim().split('\n').slice(-6)
  const fatal = lines.filter((line) => /FATAL|PANIC|ERROR|HINT|DETAIL|cannot|could not/.test(line))
  return `${(fatal.length > 0 ? fatal : lines).join(' · ').slice(-600)} (${logPath})`
}
