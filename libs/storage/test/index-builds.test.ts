import type { Db, Document } from 'mongodb'
import t from 'tap'
import { ensureIndexes } from '../src/ensure-indexes.ts'
import { memoryLogger, testStorage } from './fixtures/test-storage.ts'

const declared = { key: { roundId: 1 }, name: 'of_round', unique: true } as const
const id = { v: 2, key: { _id: 1 }, name: '_id_' }

/**
 * A database whose server is building the index, as MongoDB lists one with `includeBuildUUIDs`: the engine of
 * the tests cannot be found in the midst of a build. `createIndexes` ends when the build does.
 */
function building(ended: Promise<void>) {
  const asked: Document[] = []
  let isBuilt = false
  const db = {
    async command(command: Document) {
      asked.push(command)
      if ('hello' in command) return {}
      const spec = { v: 2, ...declared }
      const index = isBuilt ? spec : { spec, buildUUID: '00836550-d10e-4ec8-84df-cb5166bc085b' }
      return { cursor: { firstBatch: [id, index] } }
    },
    listCollections: () => ({ toArray: async () => [{ name: 'events' }] }),
    collection: () => ({
      async createIndexes(indexes: readonly Document[]) {
        asked.push({ createIndexes: indexes })
        await ended
        isBuilt = true
      },
    }),
  }
  return { db: db as unknown as Db, asked }
}

t.test('an index that is being built counts as absent: its build is joined and waited for', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { db, asked } = building(promise)
  const { logger, lines } = memoryLogger()
  let isReady = false
  const starting = ensureIndexes(db, { events: [declared] }, logger).then(() => {
    isReady = true
  })
  await new Promise(setImmediate)
  t.notOk(isReady, 'a start waits for it')
  t.match(asked, [
    { hello: 1 },
    { listIndexes: 'events', includeBuildUUIDs: true },
    { createIndexes: [declared] },
  ])
  resolve()
  await starting
  t.match(lines(), [{ msg: 'database.indexes-built', collection: 'events', indexes: ['of_round'] }])
})

t.test('an index is built on a connection without a time-out', async (t) => {
  const storage = await testStorage(t)
  const options = await storage.patiently(async (db) => {
    await ensureIndexes(db, { things: [declared] })
    return db.client.options
  })
  t.match(options, { socketTimeoutMS: 0, maxPoolSize: 2 })
  t.equal(options.writeConcern?.wtimeoutMS, undefined)
  const made = await storage.db.collection('things').listIndexes().toArray()
  t.ok(made.some(({ name }) => name === 'of_round'))
})
