import { jetstreamManager } from '@nats-io/jetstream'
import { connectBus } from '@pitboss/bus/connect-bus'
import { calculateObjectSize } from 'bson'
import { type Db, MongoClient } from 'mongodb'
import { join } from 'node:path'
import pino from 'pino'
import { setTimeout as delay } from 'node:timers/promises'
import { processorTimeBelow, processorTimes } from '../compare/processor-time.ts'
import { type Work, workloads } from '../compare/workloads.ts'
import type { Cleanup } from '../harness/cleanup.ts'
import { createHttpClient } from '../harness/http-client.ts'
import { raisedLimits } from '../harness/raised-limits.ts'
import { runLoad } from '../harness/run-load.ts'
import { startEngines } from '../harness/start-engines.ts'
import { startProduct } from '../harness/start-product.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'

const prefix = 'pitboss_capacity'
const services = ['auth', 'rounds', 'wallet_bridge', 'webhooks'] as const
const warmUpMs = 20_000
/** After a stretch, for the events and deliveries behind its answers. */
const settleMs = 4000
/** Callers of the two points. */
const callers = [2, 12] as const

/** A stretch of work: its rate, and processor time by part, a second and a round beyond rest. */
type Stretch = {
  readonly roundsPerSecond: number
  readonly processorS: Readonly<Record<string, number>>
  readonly roundMs: Readonly<Record<string, number>>
}

/** What a machine shows: the processor time of two points and of no work at all, and bytes that stay. */
type Measured = {
  readonly engines: { readonly mongodb: string; readonly nats: string }
  /** Processor seconds a second without any request. */
  readonly idle: Readonly<Record<string, number>>
  /** Processor milliseconds of a read of a session, of services and engines. */
  readonly readMs: Readonly<Record<string, number>>
  readonly points: readonly Stretch[]
  /** Bytes of documents a round, by database, and of the stream of events. */
  readonly bytesPerRound: Readonly<Record<string, number>>
}

/**
 * Measures a product of its own, a replica of each service, with rounds of dice of which half win, at two
 * rates. Linux only. Takes about two minutes.
 */
export async function measureCosts(
  { seconds }: { seconds: number },
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const folder = temporaryFolder('capacity', cleanup)
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const product = await startProduct({
    dataDir: join(folder, 'data'),
    logPath: join(folder, 'product.log'),
    environment: {
      ...raisedLimits,
      MONGODB_URL: engines.mongodbUrl,
      NATS_URL: engines.natsUrl.product,
      PITBOSS_DATABASE_PREFIX: prefix,
    },
    cleanup,
  })
  const http = createHttpClient(product.demo().base_url, Math.max(...callers))
  cleanup.add(() => http.close())
  const mongo = await MongoClient.connect(engines.mongodbUrl)
  cleanup.add(() => mongo.close())
  const logger = pino({ level: 'silent' })
  const bus = await connectBus({ url: engines.natsUrl.product, service: 'bench', logger })
  cleanup.add(() => bus.close())

  const processorMs = () => ({
    ...Object.fromEntries([...processorTimes(product.demo())].map(([name, ns]) => [name, ns / 1e6])),
    engines: processorTimeBelow(process.pid, [product.pid]) / 1e6,
  })
  const spentIn = async (work: () => Promise<number>) => {
    const before: Record<string, number> = processorMs()
    const fromMs = performance.now()
    const count = await work()
    const tookS = (performance.now() - fromMs) / 1000
    const spent = Object.entries(processorMs()).map(([name, ms]) => [name, ms - (before[name] ?? 0)] as const)
    return { count, tookS, spent }
  }
  const load = (concurrency: number, work: Work) => async () => {
    const { count } = await runLoad({ concurrency, durationMs: seconds * 1000, work })
    await delay(settleMs)
    return count
  }

  const round = await workloads.round(http, product.demo())
  const read = await workloads.read(http, product.demo())
  await runLoad({ concurrency: Math.max(...callers), durationMs: warmUpMs, work: round })
  await runLoad({ concurrency: 2, durationMs: warmUpMs, work: read })
  await delay(settleMs)

  say('nothing at work')
  const still = await spentIn(async () => {
    await delay(seconds * 1000)
    return 0
  })
  const idle = Object.fromEntries(still.spent.map(([name, ms]) => [name, ms / 1000 / still.tookS]))
  const beyondIdle = ({ spent, tookS, count }: Awaited<ReturnType<typeof spentIn>>) =>
    Object.fromEntries(spent.map(([name, ms]) => [name, (ms - (idle[name] ?? 0) * tookS * 1000) / count]))
  const bytesBefore = await bytesOf()
  const points: Stretch[] = []
  let rounds = 0
  for (const concurrency of callers) {
    say(`rounds of dice, ${concurrency} at once`)
    const seen = await spentIn(load(concurrency, round))
    rounds += seen.count
    const perSecond = seen.spent.map(([name, ms]) => [name, ms / 1000 / seen.tookS])
    points.push({
      roundsPerSecond: seen.count / seen.tookS,
      processorS: Object.fromEntries(perSecond),
      roundMs: beyondIdle(seen),
    })
  }
  const bytesAfter = await bytesOf()
  say('reads of a session, 2 at once')
  const reads = await spentIn(load(2, read))
  return {
    engines: engines.kinds,
    idle,
    readMs: beyondIdle(reads),
    points,
    bytesPerRound: Object.fromEntries(
      Object.entries(bytesAfter).map(([name, bytes]) => [name, (bytes - (bytesBefore[name] ?? 0)) / rounds]),
    ),
  }

  async function bytesOf(): Promise<Record<string, number>> {
    const stream = await (await jetstreamManager(bus.nc)).streams.info('EVENTS')
    const databases = await Promise.all(
      services.map(async (name) => [name, await documentBytes(mongo.db(`${prefix}_${name}`))] as const),
    )
    return { ...Object.fromEntries(databases), events_stream: stream.state.bytes }
  }
}

async function documentBytes(db: Db): Promise<number> {
  let bytes = 0
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    for await (const document of db.collection(name).find()) bytes += calculateObjectSize(document)
  }
  return bytes
}
