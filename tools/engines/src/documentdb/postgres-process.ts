import {
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { EngineError } from '../engine-error.ts'
import { type EngineProcess, lastWords, startEngineProcess } from '../processes/engine-process.ts'
import { killIfThere, type ProcessRecord, processStartedAt } from '../processes/process-record.ts'
import { waitUntil } from '../processes/wait-until.ts'
import { PostgresConnection } from './gateway/postgres/postgres-connection.ts'
import {
  makeSocketFolder,
  postgresDatabase,
  postgresFiles,
  postgresUser,
  socketName,
} from './postgres-files.ts'
import type { PostgresIdentity } from './postgres-identity.ts'

type PostgresOptions = {
  programs: string
  dataPath: string
  socketFolder: string
  logPath: string
  identity: PostgresIdentity
  record: ProcessRecord
  /** Whether an acknowledged write survives a power cut; it does unless false. */
  durable?: boolean | undefined
  signal?: AbortSignal | undefined
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
  const { programs, dataPath, socketFolder, logPath, identity, record, durable = true, signal } = options
  makeSocketFolder(socketFolder, identity.uid)
  removeStaleLock(dataPath)
  const settings = join(dataPath, 'postgresql.auto.conf')
  writeFileSync(settings, postgresConfiguration(socketFolder, durable), { mode: 0o600 })
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
    { timeoutMs: readyTimeoutMs, everyMs: 20, signal },
  )
  if (outcome === 'ready') return server
  await server.end()
  throw new EngineError(
    `PostgreSQL did not start: ${lastWords(logPath, 6, /FATAL|PANIC|ERROR|HINT|DETAIL|cannot|could not/)}`,
  )
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
  if (processStartedAt(pid) !== null && !runsOn(pid, dataPath)) rmSync(path, { force: true })
}

/**
 * Ends every PostgreSQL process that still works in a data folder: a worker of a postmaster that was killed
 * can spin for ever and hold the shared memory that a new server needs. To be called only by who has claimed
 * the folder and has no server of his own on it at that moment, so that nothing in it is anybody else's.
 * Linux only, as DocumentDB is.
 */
export function endLeftovers(dataPath: string): void {
  if (!existsSync(dataPath)) return
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (Number.isInteger(pid) && runsOn(pid, dataPath)) killIfThere(pid, 'SIGKILL')
  }
}

/**
 * Whether a process is PostgreSQL's and works in this data folder: each of its processes goes there at its
 * start. Where that may not be read (root without its rights, another user's process) its arguments decide.
 */
function runsOn(pid: number, dataPath: string): boolean {
  const line = readOr('', () => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  if (!/(^|\/bin\/)postgres\b/.test(line)) return false
  const folder = readOr(null, () => readlinkSync(`/proc/${pid}/cwd`))
  return folder === null ? line.split('\0').includes(dataPath) : folder === realpathSync(dataPath)
}

/** A process may end between two looks, or belong to another user. */
function readOr<Value>(otherwise: Value, read: () => Value): Value {
  try {
    return read()
  } catch {
    return otherwise
  }
}

/** PostgreSQL's settings; each of them was measured or is needed (why: docs/engines.md). */
function postgresConfiguration(socketFolder: string, durable: boolean): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  const settings = {
    listen_addresses: "''",
    unix_socket_directories: quoted(socketFolder),
    unix_socket_permissions: '0700',
    max_connections: '120',
    shared_buffers: "'64MB'",
    // bounds what must be replayed after a crash, and the disk
    max_wal_size: "'256MB'",
    timezone: "'GMT'",
    log_timezone: "'GMT'",
    shared_preload_libraries: "'pg_cron,pg_documentdb_core,pg_documentdb,pg_documentdb_extended_rum'",
    'cron.database_name': "'postgres'",
    'cron.use_background_workers': 'on',
    'cron.log_run': 'off',
    'cron.log_statement': 'off',
    max_worker_processes: '16',
    'documentdb.localhost_connection_string': quoted(`host=${socketFolder}`),
    // without it no sort uses an index
    'documentdb.alternate_index_handler_name': "'extended_rum'",
    'documentdb.useFileBasedPersistedCursors': 'on',
    'documentdb_core.enableCollation': 'on',
    // 30 collections with several kinds of commands each do not fit in the usual 100: plans are made again
    'documentdb.query_plan_cache_size': '1000',
    // an idle cursor dies after a minute otherwise
    'documentdb.defaultCursorExpiryTimeLimitSeconds': '600',
    enable_bitmapscan: 'off',
    autovacuum_naptime: "'5s'",
    // racing inserts of one unique key stall for seconds otherwise
    deadlock_timeout: "'10ms'",
    jit: 'off',
    log_min_messages: 'warning',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  }
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')
}
