import { join } from 'node:path'
import { cacheFolder } from '@pitboss/engines/engine-settings'
import { openPostgres } from '@pitboss/engines/documentdb/postgres-process'
import { postgresFiles, socketFolderFor, socketName } from '@pitboss/engines/documentdb/postgres-files'
import { startDocumentDb } from '@pitboss/engines/documentdb/start-documentdb'
import { startNats } from '@pitboss/engines/start-nats'
import { MongoClient } from 'mongodb'
import type { Cleanup } from '../harness/cleanup.ts'
import { runLoad } from '../harness/run-load.ts'
import { type Comparison, type PairPlan, runPairs } from '../harness/run-pairs.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'
import { newDocument, operationNames, ownIds, seeded } from './operations.ts'
import { measureUse, type ProcessUse } from './process-use.ts'
import { throughDriver } from './through-driver.ts'
import { throughSql } from './through-sql.ts'
import { throughWire } from './through-wire.ts'
import { WireConnection } from './wire-connection.ts'

const database = 'bench'
const restMs = 3000
const idleMs = 10_000

type Compared = { operation: string; way: string; comparison: Comparison }
type Starts = { firstMs: number; againMs: number; natsMs: number; emptyCacheMs: number | null }

/**
 * The embedded database through the gateway, with the driver and with bare commands, against its SQL
 * functions; start times; what rest costs.
 */
export async function runEngines(plan: PairPlan, cleanup: Cleanup, say: (text: string) => void) {
  const folder = temporaryFolder('bench-engines', cleanup)
  const emptyCacheMs = await timeEmptyCache(folder, say)
  const dataDir = join(folder, 'documentdb')
  const cacheDir = cacheFolder(process.env)
  const first = await timed(() => startDocumentDb({ dataDir, cacheDir }))
  await first.value.stop()
  const again = await timed(() => startDocumentDb({ dataDir, cacheDir }))
  cleanup.add(() => again.value.stop())
  const nats = await timed(() =>
    startNats({ dataDir: join(folder, 'nats'), accounts: [{ name: 'BENCH', users: [{ name: 'bench' }] }] }),
  )
  cleanup.add(() => nats.value.stop())
  const starts: Starts = { firstMs: first.ms, againMs: again.ms, natsMs: nats.ms, emptyCacheMs }
  say(`started: new data folder ${first.ms} ms, again ${again.ms} ms, nats-server ${nats.ms} ms`)

  const idle = await measureIdle({
    postgres: again.value.postgresPid(),
    gateway: again.value.gatewayPid(),
    'nats-server': nats.value.pid(),
  })

  const client = new MongoClient(again.value.url, { maxPoolSize: seeded.callers, useBigInt64: false })
  await client.connect()
  cleanup.add(() => client.close())
  await seed(client)
  const socketPath = join(socketFolderFor(dataDir), socketName)
  const connections = await Promise.all(
    Array.from({ length: seeded.callers }, () => openPostgres(socketPath)),
  )
  cleanup.add(() => {
    for (const connection of connections) connection.end()
  })
  const sockets = await Promise.all(
    Array.from({ length: seeded.callers }, () => WireConnection.open(Number(new URL(again.value.url).port))),
  )
  cleanup.add(() => {
    for (const socket of sockets) socket.end()
  })
  const ways = {
    driver: () => throughDriver(client, database),
    'bare commands': () => throughWire(sockets, database),
    sql: () => throughSql(connections, database),
  }
  // Insert ids must go on rising, so those operations are made once.
  const inserting = { driver: ways.driver(), 'bare commands': ways['bare commands'](), sql: ways.sql() }
  const comparisons: Compared[] = []
  for (const operation of operationNames) {
    const side = (way: keyof typeof ways) => (concurrency: number, durationMs: number) => {
      const operations = operation === 'insert' ? inserting[way] : ways[way]()
      return runLoad({ concurrency, durationMs, work: operations[operation] })
    }
    for (const way of ['driver', 'bare commands'] as const) {
      say(`${operation}, ${way}`)
      const found = await runPairs(plan, { product: side(way), floor: side('sql') }, say)
      comparisons.push(...found.map((comparison) => ({ operation, way, comparison })))
    }
  }
  const result = { kind: 'documentdb', starts, idle, comparisons, programs: postgresFiles('').programFolder }
  return { result, text: render(starts, idle, comparisons) }
}

async function seed(client: MongoClient): Promise<void> {
  const db = client.db(database)
  for (const name of ['items', 'pages']) {
    await db.collection(name).createIndex({ scope: 1, seq: 1 })
  }
  const items = db.collection<{ _id: string }>('items')
  const pages = db.collection<{ _id: string }>('pages')
  const own = Array.from({ length: seeded.callers }, (_, caller) => ownIds(caller)).flat()
  await items.insertMany(own.map((id, index) => newDocument(id, index)))
  await items.insertMany(
    Array.from({ length: seeded.documents }, (_, index) => newDocument(`seed-${index}`, index)),
  )
  await pages.insertMany(
    Array.from({ length: seeded.pageDocuments }, (_, index) => newDocument(`page-${index}`, index)),
  )
}

async function measureIdle(pids: Record<string, number | null>): Promise<Record<string, ProcessUse>> {
  await new Promise((resolve) => setTimeout(resolve, restMs))
  const uses = await Promise.all(
    Object.entries(pids).map(async ([name, pid]) => [name, await measureUse(pid ?? 0, idleMs)] as const),
  )
  return Object.fromEntries(uses)
}

/** From nothing at all: fetch, unpack, initialise, start. null where there is no network. */
async function timeEmptyCache(folder: string, say: (text: string) => void): Promise<number | null> {
  say('starting with an empty cache')
  try {
    const { value, ms } = await timed(() =>
      startDocumentDb({ dataDir: join(folder, 'cold'), cacheDir: join(folder, 'cache') }),
    )
    await value.stop()
    return ms
  } catch (error) {
    say(`not measured: ${String(error)}`)
    return null
  }
}

async function timed<Value>(work: () => Promise<Value>): Promise<{ value: Value; ms: number }> {
  const fromMs = performance.now()
  const value = await work()
  return { value, ms: Math.round(performance.now() - fromMs) }
}

function render(
  { firstMs, againMs, natsMs, emptyCacheMs }: Starts,
  idle: Record<string, ProcessUse>,
  comparisons: readonly Compared[],
): string {
  const rows = comparisons.map(({ operation, way, comparison: { concurrency, product, floor, ratio } }) => [
    `${operation}, ${way}, ${concurrency} at once`,
    product.rate.toFixed(0),
    ...latencyCells(product.latencyMs),
    floor.rate.toFixed(0),
    ...latencyCells(floor.latencyMs),
    ratio.median.toFixed(2),
  ])
  const header = [
    'through the gateway | SQL',
    'per s',
    'p50',
    'p95',
    'p99',
    '| per s',
    'p50',
    'p95',
    'p99',
    'ratio',
  ]
  const uses = Object.entries(idle).map(([name, { cpuPercent, memoryMb, processes }]) => [
    name,
    `${cpuPercent.toFixed(1)} %`,
    `${memoryMb.toFixed(0)} MB`,
    String(processes),
  ])
  return `${renderTable(header, rows)}

${renderTable(
  ['start', 'ms'],
  [
    ['database, empty cache', emptyCacheMs === null ? 'not measured' : String(emptyCacheMs)],
    ['database, new data folder', String(firstMs)],
    ['database, again', String(againMs)],
    ['nats-server', String(natsMs)],
  ],
)}

${renderTable(['at rest', 'CPU', 'memory', 'processes'], uses)}`
}
