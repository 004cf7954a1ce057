import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cachedFolder } from '../fetch/cached-folder.ts'
import { debianSuite } from '../fetch/private-apt.ts'
import type { Progress } from '../fetch/progress.ts'
import { makeTemplate } from './data-template.ts'
import { postgresMajor } from './postgres-files.ts'
import { fetchPostgres } from './postgres-packages.ts'

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
