import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { append, type Journal } from '@pitboss/storage/journal/journal'
import { claimKey, streamKey } from '@pitboss/storage/journal/journal-keys'
import { mongodbJournal } from '@pitboss/storage/journal/mongodb-journal'
import pino from 'pino'
import { processorTimeBelow } from '../compare/processor-time.ts'
import type { Cleanup } from '../harness/cleanup.ts'
import type { Measured } from '../harness/measured.ts'
import { runLoad } from '../harness/run-load.ts'
import { startEngines } from '../harness/start-engines.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'

type Fact = { body: string }

const concurrencies = [1, 8, 32, 128] as const
const factBytes = 900
const answeredWithinMs = 60_000

/** Appends of first entries with one claim each, by one process: how many, how late, at what price. */
export async function runAppend(
  { durationMs, warmUpMs }: { durationMs: number; warmUpMs: number },
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const folder = temporaryFolder('bench-append', cleanup)
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const { db, close } = await connectStorage({
    url: engines.mongodbUrl,
    database: 'bench_append',
    logger: pino({ level: 'warn' }, pino.destination(2)),
  })
  cleanup.add(close)
  await db.collection('journal').createIndex({ o: 1, q: 1 }, { name: 'instance' })
  const journal = createJournal(mongodbJournal<Fact>(db))
  const body = 'x'.repeat(factBytes)
  const work = async () => {
    const id = randomUUID()
    const { kind } = await append(
      journal,
      streamKey('account', id),
      0,
      { facts: [{ body }], claims: [{ key: claimKey('n', ['account'], id) }] },
      performance.now() + answeredWithinMs,
    )
    if (kind !== 'appended') throw new Error(`an append was ${kind}`)
  }

  const samples = []
  for (const concurrency of concurrencies) {
    await runLoad({ concurrency, durationMs: warmUpMs, work })
    const before = processorTimeBelow(process.pid, [])
    const sample = await runLoad({ concurrency, durationMs, work })
    const enginesUs = (processorTimeBelow(process.pid, []) - before) / 1000 / sample.count
    samples.push({ ...sample, enginesUs })
    say(`${concurrency} at once: ${sample.rate.toFixed(0)}/s`)
  }
  const rows = samples.map(({ concurrency, rate, latencyMs, enginesUs }) => [
    `${concurrency} at once`,
    rate.toFixed(0),
    ...latencyCells(latencyMs),
    enginesUs.toFixed(0),
  ])
  return {
    result: { engines: engines.kinds, samples },
    text: renderTable(['', 'per s', 'p50 ms', 'p95 ms', 'p99 ms', 'engine µs'], rows),
  }
}

function createJournal(store: Journal<Fact>['store']): Journal<Fact> {
  let number = 0
  return {
    store,
    memory: new BoundedMap(1000),
    nextWriter: async () => ({ o: 'bench', q: ++number }),
    instance: () => 'bench',
    settled: () => undefined,
    newWrite: () => randomBytes(8).toString('hex'),
    now: () => new Date(),
    steadyMs: () => performance.now(),
    pause: (ms) => pause(ms),
  }
}
