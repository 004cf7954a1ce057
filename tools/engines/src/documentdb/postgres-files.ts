import { createHash } from 'node:crypto'
import { chmodSync, chownSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { EngineError } from '../engine-error.ts'

/** The packages of the programs themselves; their libraries follow. */
export const programPackages = [
  'postgresql-18',
  'postgresql-18-documentdb',
  'postgresql-18-cron',
  'postgresql-18-pgvector',
]

export const postgresMajor = '18'
export const postgresUser = 'docdb'
export const postgresDatabase = 'postgres'
export const socketName = '.s.PGSQL.5432'

/** Places of files below the folder into which the packages were unpacked. */
export function postgresFiles(folder: string) {
  const root = join(folder, 'pg')
  const [triplet, loaderName] =
    process.arch === 'arm64'
      ? ['aarch64-linux-gnu', 'ld-linux-aarch64.so.1']
      : ['x86_64-linux-gnu', 'ld-linux-x86-64.so.2']
  const libraryFolder = join(root, 'usr/lib', triplet)
  return {
    root,
    programFolder: join(root, 'usr/lib/postgresql', postgresMajor, 'bin'),
    moduleFolder: join(root, 'usr/lib/postgresql', postgresMajor, 'lib'),
    extensionFolder: join(root, 'usr/share/postgresql', postgresMajor, 'extension'),
    libraryFolder,
    loaderName,
    loader: join(libraryFolder, loaderName),
    templateFolder: join(folder, 'template'),
  }
}

/**
 * The longest path of a Unix socket that every system we run on takes (macOS: 104 bytes with the end mark).
 */
const socketPathBytesMax = 103

/**
 * Characters that need no quoting in lists of folders and of hosts; PostgreSQL and DocumentDB read the path
 * in both.
 */
const plainPath = /^[A-Za-z0-9/._-]+$/

/**
 * Below the data folder if the path is short and plain enough, else in the temporary folder under a name made
 * from it.
 */
export function socketFolderFor(dataDir: string): string {
  const inside = join(resolve(dataDir), 'sock')
  if (join(inside, socketName).length <= socketPathBytesMax && plainPath.test(inside)) return inside
  const name = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 16)
  return join(tmpdir(), `pitboss-${name}`)
}

/**
 * Makes the folder, for its owner only.
 * @throws EngineError when somebody else made it (anybody may write to the temporary folder) or it is a link.
 */
export function makeSocketFolder(folder: string, uid: number | null): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stat = lstatSync(folder)
  const trusted = [process.getuid?.() ?? 0, uid ?? -1]
  if (!stat.isDirectory() || !trusted.includes(stat.uid)) {
    throw new EngineError(`${folder} belongs to somebody else; remove it or set TMPDIR`)
  }
  chmodSync(folder, 0o700)
  if (uid !== null) chownSync(folder, uid, uid)
}
