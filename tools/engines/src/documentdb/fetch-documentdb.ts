import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { EngineError, reasonOf } from '../engine-error.ts'
import { cachedFolder, requireSpace } from '../fetch/cached-folder.ts'
import { debianSuite } from '../fetch/private-apt.ts'
import type { Progress } from '../fetch/progress.ts'
import { runProgram } from '../fetch/run-program.ts'
import { processRecord } from '../processes/process-record.ts'
import { postgresFiles, postgresMajor, postgresUser, socketName } from './postgres-files.ts'
import { postgresIdentity, type PostgresIdentity } from './postgres-identity.ts'
import { fetchPostgres } from './postgres-packages.ts'
import { openPostgres, postgresEnvironment, startPostgres } from './postgres-process.ts'

/** Raised when what lies in the folder changes, so that an older folder is not taken for the new one. */
const recipe = 1
const freeBytesMin = 900e6

/** The cache folder of the programs. */
export const documentDbFolderName = `documentdb-postgresql${postgresMajor}-${debianSuite}-${process.arch}-${recipe}`

/** Whether the programs are in the cache, so that no network is needed. */
export function isDocumentDbCached(cacheDir: string): boolean {
  return existsSync(join(cacheDir, documentDbFolderName))
}

/**
 * The folder of PostgreSQL with DocumentDB and the template of an empty database; fetched once, smoke-tested
 * before use.
 */
export function fetchDocumentDb(cacheDir: string, progress: Progress): Promise<string> {
  return cachedFolder({
    cacheDir,
    name: documentDbFolderName,
    freeBytesMin,
    progress,
    make: async (folder) => {
      await fetchPostgres(folder, cacheDir, progress)
      progress.step('making the empty database')
      await makeTemplate(folder)
    },
  })
}

const copyBytesMin = 300e6

/**
 * Makes the empty database that every stack begins with, which also tests the fetched programs: initialise,
 * start, create the extensions, store and find a document, stop.
 */
async function makeTemplate(programs: string): Promise<void> {
  const files = postgresFiles(programs)
  const work = mkdtempSync(join(tmpdir(), 'pitboss-template-'))
  chmodSync(work, 0o755)
  const dataPath = files.templateFolder
  const identity = postgresIdentity([programs, work], dataPath)
  makeOwned(dataPath, identity)
  const { program, args, ...user } = identity.command(join(files.programFolder, 'initdb'), [
    ...['-D', dataPath, '-U', postgresUser, '-A', 'trust', '--no-locale', '-E', 'UTF8'],
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-sync', '--no-instructions'],
  ])
  const record = processRecord(join(work, 'processes'))
  try {
    await runProgram(program, args, { env: postgresEnvironment, cwd: '/', ...user })
    const socketFolder = join(work, 'sock')
    const server = await startPostgres({
      programs,
      dataPath,
      socketFolder,
      logPath: join(work, 'log'),
      identity,
      record,
    })
    try {
      await createExtensions(join(socketFolder, socketName))
    } finally {
      await server.end()
    }
  } catch (error) {
    throw new EngineError(`the fetched PostgreSQL with DocumentDB does not run here: ${reasonOf(error)}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  makeReadable(dataPath)
}

async function createExtensions(socketPath: string): Promise<void> {
  const connection = await openPostgres(socketPath)
  try {
    await connection.simple('CREATE EXTENSION documentdb CASCADE')
    await connection.simple('CREATE EXTENSION documentdb_extended_rum')
    await connection.simple(
      `SELECT documentdb_api.insert('smoke', '{"insert":"test","documents":[{"_id":1}]}')`,
    )
    await connection.simple(`SELECT documentdb_api.drop_database('smoke')`)
  } finally {
    connection.end()
  }
}

/**
 * Copies the template for a stack; the copy appears complete or not at all.
 * @throws EngineError when the folder holds something else or another version.
 */
export async function copyTemplate(
  programs: string,
  dataPath: string,
  identity: PostgresIdentity,
): Promise<void> {
  const parent = dirname(dataPath)
  for (const name of readdirSync(parent)) {
    if (name.startsWith('data.making')) rmSync(join(parent, name), { recursive: true, force: true })
  }
  if (existsSync(dataPath)) return requireVersion(dataPath)
  requireSpace(parent, copyBytesMin)
  const aside = `${dataPath}.making`
  makeOwned(aside, identity)
  const from = `${postgresFiles(programs).templateFolder}/.`
  const { program, args, ...user } = identity.command('cp', ['-R', '--reflink=auto', from, aside])
  await runProgram(program, args, { cwd: '/', ...user })
  chmodSync(aside, 0o700)
  // the copy must outlast a power cut as what is written later will: PostgreSQL syncs only what it wrote
  // itself
  await runProgram('sync', ['-f', aside])
  renameSync(aside, dataPath)
}

function requireVersion(dataPath: string): void {
  let version: string
  try {
    version = readFileSync(join(dataPath, 'PG_VERSION'), 'utf8').trim()
  } catch {
    throw new EngineError(
      `${dataPath} is no database folder; remove it, or start with --fresh to drop all data`,
    )
  }
  if (version === postgresMajor) return
  throw new EngineError(
    `${dataPath} was made by PostgreSQL ${version}, this version runs ${postgresMajor}; start with --fresh to drop all data`,
  )
}

function makeOwned(folder: string, { uid }: PostgresIdentity): void {
  mkdirSync(folder, { mode: 0o700 })
  if (uid !== null) chownSync(folder, uid, uid)
}

/** Another user may copy the template: it holds nothing secret. */
function makeReadable(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
  }
}
