import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fetchDocumentDb, isDocumentDbCached } from '../documentdb/fetch-documentdb.ts'
import { aptObstacle } from '../fetch/private-apt.ts'
import { EngineError } from '../engine-error.ts'
import type { Progress } from '../fetch/progress.ts'
import { findProgram } from '../engine-settings.ts'
import { type Attempt, firstThatWorks } from '../try-ways.ts'
import { fetchMongod, isMongodCached } from './fetch-mongod.ts'

export type MongoChoice =
  | { kind: 'external'; url: string; reason: string }
  | { kind: 'mongod' | 'mongodb-memory-server'; program: string; reason: string }
  | { kind: 'documentdb'; reason: string }

export const mongodFolderName = 'mongod'
export const documentDbDataName = 'documentdb'

/**
 * Chooses the database, by docs/contract.md, section 9: the URL, the program on the PATH, then a fetched one.
 * A data folder that one of the fetched kinds has written stays with that kind; of two new ones the one in
 * the cache is first.
 * @throws EngineError with the remedies when there is none.
 */
export async function chooseMongodb(options: {
  env: NodeJS.ProcessEnv
  cacheDir: string
  dataDir: string
  progress: Progress
}): Promise<MongoChoice> {
  const { env, cacheDir, dataDir, progress } = options
  if (env.MONGODB_URL) return { kind: 'external', url: env.MONGODB_URL, reason: 'MONGODB_URL is set' }
  const attempts: Attempt[] = [{ way: 'MONGODB_URL', outcome: 'not set' }]
  const found = findProgram(env, 'MONGOD_BIN', 'mongod')
  const holdsDocumentDb = existsSync(join(dataDir, documentDbDataName, 'data'))
  const holdsMongod = existsSync(join(dataDir, mongodFolderName, 'data'))
  if (found !== null) {
    const reason = `${found.path} (${found.from})`
    const warning = holdsDocumentDb ? '; what DocumentDB stored in this data folder is not visible to it' : ''
    return { kind: 'mongod', program: found.path, reason: reason + warning }
  }
  attempts.push({ way: 'mongod on the PATH', outcome: 'not there' })
  const ways: { way: string; isFirst: boolean; use: () => Promise<MongoChoice> }[] = [
    {
      way: 'MongoDB from its download host',
      isFirst: holdsMongod || (!holdsDocumentDb && isMongodCached(cacheDir)),
      use: async () => {
        const cached = isMongodCached(cacheDir)
        const program = await fetchMongod(cacheDir, progress, env.PITBOSS_MONGOD_SHA256)
        const reason = `no mongod on the PATH; MongoDB's own build, ${cached ? 'from the cache' : 'fetched'}`
        return { kind: 'mongodb-memory-server', program, reason }
      },
    },
    {
      way: "DocumentDB from Debian's packages",
      isFirst: !holdsMongod && (holdsDocumentDb || isDocumentDbCached(cacheDir)),
      use: async () => {
        const cached = isDocumentDbCached(cacheDir)
        const obstacle = cached ? null : aptObstacle()
        if (obstacle !== null) throw new EngineError(obstacle)
        await fetchDocumentDb(cacheDir, progress)
        progress.done()
        const before = attempts.find(({ way }) => way.startsWith('MongoDB from'))
        const why = before === undefined ? '' : `; its download host cannot be used: ${before.outcome}`
        return {
          kind: 'documentdb',
          reason: `no mongod on the PATH${why}; DocumentDB from Debian's packages, ${cached ? 'from the cache' : 'fetched'}`,
        }
      },
    },
  ]
  return firstThatWorks(
    'mongodb',
    attempts,
    ways.sort((a, b) => Number(b.isFirst) - Number(a.isFirst)),
  )
}
