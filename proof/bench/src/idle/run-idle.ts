import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type SeenCommand, watchCommands } from '@pitboss/testing/watch-commands'
import { prepareBase } from '../compare/prepare-base.ts'
import { processorTimeBelow, processorTimeOf, processorTimes } from '../compare/processor-time.ts'
import { type Cleanup, createCleanup } from '../harness/cleanup.ts'
import type { Measured } from '../harness/measured.ts'
import { startEngines } from '../harness/start-engines.ts'
import { startProduct } from '../harness/start-product.ts'
import { renderTable } from '../harness/table.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'

/** After the start, for what a new installation does once. */
const settleMs = 20_000
/** What a driver asks by itself, to know its server. */
const ofDriver = new Set([
  'hello',
  'ismaster',
  'isMaster',
  'ping',
  'saslStart',
  'saslContinue',
  'endSessions',
])

/**
 * Counts what a product does of which nobody asks anything: database commands by service and collection, and
 * the processor time of each process, per second; with `base` of that build, too, one after the other.
 */
export async function runIdle(
  { durationMs, base }: { durationMs: number; base: string | undefined },
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const own = await watchIdle('this build', undefined, durationMs, cleanup, say)
  if (base === undefined) return own
  const entry = prepareBase(base, join(temporaryFolder('bench-idle-base', cleanup), 'build'), cleanup)
  const other = await watchIdle(base, entry, durationMs, cleanup, say)
  return { result: { own: own.result, base: other.result }, text: `${own.text}\n\n${other.text}` }
}

async function watchIdle(
  build: string,
  entry: string | undefined,
  durationMs: number,
  outer: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const cleanup = createCleanup(outer)
  const folder = temporaryFolder('bench-idle', cleanup)
  say(`starting engines and ${build}`)
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const database = await watchCommands(engines.mongodbUrl)
  cleanup.add(() => database.close())
  const product = await startProduct({
    dataDir: join(folder, 'product'),
    logPath: join(folder, 'product.log'),
    environment: { MONGODB_URL: database.url, NATS_URL: engines.natsUrl.product },
    ...(entry === undefined ? {} : { entry }),
    cleanup,
  })
  await delay(settleMs)
  say(`watching for ${(durationMs / 1000).toFixed(0)} s`)
  const times = () =>
    new Map([
      ...processorTimes(product.demo()),
      ['engines', processorTimeBelow(process.pid, [product.pid])],
      ['runner', processorTimeOf(product.pid)],
    ])
  const before = times()
  const seenBefore = database.seen.length
  await delay(durationMs)
  const after = times()
  const seconds = durationMs / 1000
  const commands = countByKind(database.seen.slice(seenBefore).filter(({ name }) => !ofDriver.has(name)))
  const perSecond = commands.map(({ count, ...kind }) => ({ ...kind, perS: count / seconds }))
  const processorMsPerS = Object.fromEntries(
    [...after].map(([name, ns]) => [name, (ns - (before.get(name) ?? 0)) / 1e6 / seconds]),
  )
  await cleanup.run()
  return {
    result: { build, engines: engines.kinds, commands: perSecond, processorMsPerS },
    text: `${build}\n\n${render(perSecond, processorMsPerS)}`,
  }
}

type Kind = { service: string; collection: string; name: string; hinted: boolean }

function countByKind(seen: readonly SeenCommand[]): (Kind & { count: number })[] {
  const keyOf = ({ service, collection, name, command }: SeenCommand) =>
    JSON.stringify({ service, collection, name, hinted: command.hint !== undefined })
  return [...Map.groupBy(seen, keyOf).values()]
    .flatMap((alike) => {
      const [first] = alike
      if (first === undefined) return []
      const { service, collection, name, command } = first
      return [{ service, collection, name, hinted: command.hint !== undefined, count: alike.length }]
    })
    .toSorted((a, b) => b.count - a.count)
}

function render(
  commands: readonly (Kind & { perS: number })[],
  processorMsPerS: Readonly<Record<string, number>>,
): string {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const rows = commands.map(({ service, collection, name, hinted, perS }) => [
    `${service}.${collection} ${name}${hinted ? ', hinted' : ''}`,
    perS.toFixed(2),
  ])
  const services = [...Map.groupBy(commands, ({ service }) => service)].map(([service, own]) => [
    `all of ${service}`,
    sum(own.map(({ perS }) => perS)).toFixed(2),
  ])
  const total = ['all', sum(commands.map(({ perS }) => perS)).toFixed(2)]
  const times = Object.entries(processorMsPerS).map(([name, ms]) => [name, ms.toFixed(1)])
  const allMs = ['all', sum(Object.values(processorMsPerS)).toFixed(1)]
  return [
    renderTable(['commands', 'per s'], [...rows, ...services, total]),
    renderTable(['processor time', 'ms per s'], [...times, allMs]),
  ].join('\n\n')
}
