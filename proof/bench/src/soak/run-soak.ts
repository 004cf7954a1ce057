import { join } from 'node:path'
import { processorTimeBelow, processorTimes } from '../compare/processor-time.ts'
import { type Work, workloads } from '../compare/workloads.ts'
import { familyOf, memoryMbOf } from '../engines/process-use.ts'
import type { Cleanup } from '../harness/cleanup.ts'
import { diskBytes } from '../harness/disk-bytes.ts'
import { createLatencyRecorder } from '../harness/latency.ts'
import type { Measured } from '../harness/measured.ts'
import { createProductWorld, type ProductWorld } from '../harness/product-world.ts'
import { readMetric } from '../harness/read-metric.ts'
import { sendOpenLoop } from '../harness/send-open-loop.ts'
import { renderTable } from '../harness/table.ts'

/** Each has a round under way at times, and hardly ever two. */
const players = 256
const minuteS = 60
const columns = [
  ...['rounds', 'failed', 'p50 ms', 'p99 ms', 'services ms', 'engines ms', 'services MB', 'engines MB'],
  ...['database KB', 'broker KB', 'not done', 'late s'],
]

/**
 * Plays dice at a steady rate and shows what each minute cost: rounds, refusals, latencies, processor time
 * and disk per round, memory, entries whose duties are not done, how late deliveries are; and by which errors
 * rounds failed. What grows from hour to hour would end a product that runs for years.
 */
export async function runSoak(
  { minutes, perSecond }: { minutes: number; perSecond: number },
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const world = await createProductWorld({ name: 'soak', connections: players, cleanup, say })
  const work = await workloads.round(world.http, world.demo)
  const seen: number[][] = []
  say(`minute ${columns.join(' | ')}`)
  for (let minute = 1; minute <= minutes; minute++) {
    const { row, failures } = await playMinute(world, work, perSecond)
    seen.push(row)
    say(`${minute}: ${row.map(textOf).join(' | ')}`)
    for (const [error, count] of failures) say(`  ${count} failed: ${error}`)
  }
  const quarter = Math.max(1, Math.floor(minutes / 4))
  const mean = (name: string, rows: readonly number[][]) => [
    name,
    ...columns.map((_, at) => textOf(rows.reduce((sum, row) => sum + (row[at] ?? 0), 0) / rows.length)),
  ]
  return {
    result: { engines: world.engines.kinds, minutes, perSecond, columns, seen },
    text: renderTable(
      ['minutes, mean', ...columns],
      [mean('first quarter', seen.slice(0, quarter)), mean('last quarter', seen.slice(-quarter))],
    ),
  }
}

async function playMinute(
  { engines, product }: ProductWorld,
  work: Work,
  perSecond: number,
): Promise<{ row: number[]; failures: ReadonlyMap<string, number> }> {
  const look = async () => {
    const services = processorTimes(product.demo())
    const disk = await Promise.all(['mongodb', 'nats'].map((name) => diskBytes(join(engines.dataDir, name))))
    return {
      servicesNs: [...services.values()].reduce((sum, ns) => sum + ns, 0),
      enginesNs: processorTimeBelow(process.pid, [product.pid]),
      disk,
    }
  }
  const before = await look()
  const latency = createLatencyRecorder()
  const failures = new Map<string, number>()
  await sendOpenLoop(minuteS * perSecond, perSecond, async (number) => {
    const fromMs = performance.now()
    try {
      await work(number % players)
      latency.record(performance.now() - fromMs)
    } catch (error) {
      const name = /"code":"(\w+)"/.exec(String(error))?.[1] ?? String(error)
      failures.set(name, (failures.get(name) ?? 0) + 1)
    }
  })
  const after = await look()
  const played = latency.count()
  const grownKb = (at: number) => ((after.disk[at] ?? 0) - (before.disk[at] ?? 0)) / 1024 / played
  const ofProduct = familyOf(product.pid)
  const ofServices = product
    .demo()
    .processes.flatMap(({ name, pid }) => (pid === null || /wallet$|receiver/.test(name) ? [] : [pid]))
  const ofEngines = familyOf(process.pid).filter((pid) => pid !== process.pid && !ofProduct.includes(pid))
  const { p50, p99 } = latency.read()
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0)
  const row = [
    ...[played, failed, p50, p99],
    (after.servicesNs - before.servicesNs) / 1e6 / played,
    (after.enginesNs - before.enginesNs) / 1e6 / played,
    ...[memoryMbOf(ofServices), memoryMbOf(ofEngines), grownKb(0), grownKb(1)],
    ...[
      await greatest(product, 'pitboss_journal_not_done'),
      await greatest(product, 'pitboss_webhook_late_seconds'),
    ],
  ]
  return { row, failures }
}

/** The greatest value of a metric among all processes. */
async function greatest({ demo }: ProductWorld['product'], metric: string): Promise<number> {
  const urls = demo().processes.flatMap(({ http_url: url }) => (url === undefined ? [] : [url]))
  const values = (await Promise.all(urls.map((url) => readMetric(url, metric)))).flat()
  return Math.max(0, ...values)
}

function textOf(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 100 ? 2 : 0)
}
