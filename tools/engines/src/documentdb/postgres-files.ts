import { join } from 'node:path'

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
