import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { MongoClient } from 'mongodb'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { cacheFolder } from '../../src/engine-settings.ts'
import { socketFolderFor } from '../../src/documentdb/postgres-files.ts'
import { startDocumentDb } from '../../src/documentdb/start-documentdb.ts'
import { processesOf } from '../fixtures/processes-of.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'

const cacheDir = cacheFolder(process.env)

async function write(url: string, id: number): Promise<number> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 2_000 })
  try {
    const collection = client.db('life').collection<{ _id: number }>('things')
    await collection.insertOne({ _id: id }, { writeConcern: { w: 'majority', journal: true } })
    return await collection.countDocuments()
  } finally {
    await client.close()
  }
}

await t.test(
  'a killed postmaster and a killed gateway are back within seconds, on the same port, with all that was acknowledged',
  async (t) => {
    const dataDir = join(temporaryFolder(t), 'db')
    const engine = await startDocumentDb({ dataDir, cacheDir })
    t.teardown(engine.stop)
    t.equal(await write(engine.url, 1), 1)
    for (const [id, pid] of [
      [2, engine.postgresPid],
      [3, engine.gatewayPid],
    ] as const) {
      const killed = pid()
      process.kill(killed, 'SIGKILL')
      await waitFor(() => pid() !== killed, { what: 'the restart' })
      t.equal(await waitFor(() => write(engine.url, id), { what: 'a write' }), id)
    }
  },
)

await t.test(
  'two stacks run side by side; stopped, even twice, they leave no process and no socket, and their data stays',
  async (t) => {
    const folder = temporaryFolder(t)
    const folders = [join(folder, 'a'), join(folder, 'b')]
    const engines = await Promise.all(folders.map((dataDir) => startDocumentDb({ dataDir, cacheDir })))
    for (const { url } of engines) t.equal(await write(url, 1), 1)
    await Promise.all(engines.flatMap(({ stop }) => [stop(), stop()]))
    t.strictSame(processesOf(folder), [])
    for (const dataDir of folders) {
      t.notOk(existsSync(join(dataDir, 'sock')))
      t.notOk(existsSync(join(dataDir, 'lock')))
    }
    const again = await startDocumentDb({ dataDir: join(folder, 'a'), cacheDir })
    t.teardown(again.stop)
    t.equal(await write(again.url, 2), 2)
  },
)

await t.test(
  'a data folder in use, a port in use and a folder of something else are each a sentence',
  async (t) => {
    const folder = temporaryFolder(t)
    const dataDir = join(folder, 'db')
    const engine = await startDocumentDb({ dataDir, cacheDir })
    t.teardown(engine.stop)
    await t.rejects(startDocumentDb({ dataDir, cacheDir }), {
      name: 'EngineError',
      message: `the data folder ${dataDir} is in use by process ${process.pid}; stop that one, or choose another folder with --data-dir`,
    })
    t.equal(await write(engine.url, 1), 1, 'and the one that holds it runs on')
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.teardown(() => other.close())
    const address = other.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await t.rejects(startDocumentDb({ dataDir: join(folder, 'c'), cacheDir, port }), {
      name: 'EngineError',
      message: `port ${port} for the database is taken by another process; free it or choose another port`,
    })
    mkdirSync(join(folder, 'foreign/data'), { recursive: true })
    writeFileSync(join(folder, 'foreign/data/letter'), '')
    await t.rejects(startDocumentDb({ dataDir: join(folder, 'foreign'), cacheDir }), {
      name: 'EngineError',
      message: /is no database folder/,
    })
    t.ok(existsSync(join(folder, 'foreign/data/letter')))
  },
)

await t.test(
  'a lock whose pid went to another program, and a copy that broke off, are no obstacle',
  async (t) => {
    const dataDir = join(temporaryFolder(t), 'db')
    const first = await startDocumentDb({ dataDir, cacheDir })
    const lock = readFileSync(join(dataDir, 'data/postmaster.pid'), 'utf8')
    await first.stop()
    writeFileSync(join(dataDir, 'data/postmaster.pid'), lock.replace(/^\d+/, String(process.ppid)))
    mkdirSync(join(dataDir, 'data.making'))
    const second = await startDocumentDb({ dataDir, cacheDir })
    t.teardown(second.stop)
    t.equal(await write(second.url, 1), 1)
    t.notOk(existsSync(join(dataDir, 'data.making')))
  },
)

for (const [what, names] of [
  ['too long', ['a-long-name-'.repeat(5), 'another-long-name-'.repeat(5)]],
  ['with spaces and signs', [`it's "a", $HOME & ü=1;`]],
] as const) {
  await t.test(
    `a data folder with a path ${what} for a socket works, and its socket folder goes, too`,
    async (t) => {
      const dataDir = join(temporaryFolder(t), ...names)
      const socketFolder = socketFolderFor(dataDir)
      t.notOk(socketFolder.startsWith(dirname(dataDir)))
      const engine = await startDocumentDb({ dataDir, cacheDir })
      t.equal(await write(engine.url, 1), 1)
      await engine.stop()
      t.notOk(existsSync(socketFolder))
    },
  )
}
