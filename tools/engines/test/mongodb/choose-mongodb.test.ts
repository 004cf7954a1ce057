import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { documentDbFolderName } from '../../src/documentdb/fetch-documentdb.ts'
import { noProgress } from '../../src/fetch/progress.ts'
import { chooseMongodb } from '../../src/mongodb/choose-mongodb.ts'
import { mongodVersion } from '../../src/mongodb/fetch-mongod.ts'

const documentDb = { [documentDbFolderName]: {} }
const mongod = { [`mongod-${mongodVersion}-${process.platform}-${process.arch}`]: { mongod: '' } }

await t.test('the URL, then the program on the PATH', async (t) => {
  const folder = t.testdir({ bin: { mongod: '#!/bin/sh\n' }, cache: documentDb })
  chmodSync(join(folder, 'bin/mongod'), 0o755)
  const options = { cacheDir: join(folder, 'cache'), dataDir: join(folder, 'data'), progress: noProgress }
  const env = { PATH: join(folder, 'bin') }
  t.match(await chooseMongodb({ ...options, env: { ...env, MONGODB_URL: 'mongodb://a' } }), {
    kind: 'external',
    url: 'mongodb://a',
  })
  t.match(await chooseMongodb({ ...options, env }), { kind: 'mongod', program: join(folder, 'bin/mongod') })
  t.match(await chooseMongodb({ ...options, env: { PATH: '', MONGOD_BIN: join(folder, 'bin/mongod') } }), {
    kind: 'mongod',
    reason: /MONGOD_BIN/,
  })
})

await t.test(
  'with both in the cache the real MongoDB is first, unless the data folder is of the other kind',
  async (t) => {
    const folder = t.testdir({
      cache: { ...documentDb, ...mongod },
      empty: {},
      written: { documentdb: { data: {} } },
    })
    const options = { env: { PATH: '' }, cacheDir: join(folder, 'cache'), progress: noProgress }
    t.match(await chooseMongodb({ ...options, dataDir: join(folder, 'empty') }), {
      kind: 'mongodb-memory-server',
    })
    t.match(await chooseMongodb({ ...options, dataDir: join(folder, 'written') }), { kind: 'documentdb' })
  },
)

await t.test('what DocumentDB stored is not silently passed over when a mongod appears', async (t) => {
  const folder = t.testdir({ bin: { mongod: '#!/bin/sh\n' }, data: { documentdb: { data: {} } } })
  chmodSync(join(folder, 'bin/mongod'), 0o755)
  const choice = await chooseMongodb({
    env: { PATH: join(folder, 'bin') },
    cacheDir: folder,
    dataDir: join(folder, 'data'),
    progress: noProgress,
  })
  t.match(choice.reason, /what DocumentDB stored in this data folder is not visible to it/)
})
