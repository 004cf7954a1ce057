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
import { sendOpenLoop } from '../harness/send-open-loop.ts'
import { startEngines } from '../harness/start-engines.ts'
import { startProduct } from '../harness/start-product.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'

const prefix = 'pitboss_capacity'
const services = ['auth', 'rounds', 'wallet_bridge', 'webhooks'] as const
const warmUpMs = 20_000
/** After a stretch, for the events and deliveries behind its answers. */
const settleMs = 4000
/** Rounds a second of the points. */
const rates = [20, 60, 120] as const
const readsPerSecond = 100
const players = 64

/** A stretch of work: its rate, and processor seconds a second by part. */
type Stretch = {
  readonly roundsPerSecond: number
  readonly processorS: Readonly<Record<string, number>>
}

/** What a machine shows: the processor time of three points and of no work at all, and bytes that stay. */
type Measured = {
  readonly engines: { readonly mongodb: string; readonly nats: string }
  /** Processor seconds a second without any request. */
  readonly idle: Readonly<Record<string, number>>
  /** Processor milliseconds of a read of a session, of services and engines. */
  readonly readMs: Readonly<Record<string, number>>
  readonly points: readonly Stretch[]
  /** Bytes of documents a round, by database, and of the stream of events. */
  readonly bytesPerRound: Readonly<Record<string, number>>
  /** Documents and messages of these. */
  readonly documentsPerRound: Readonly<Record<string, number>>
}

type Stored = { readonly bytes: number; readonly documents: number }

/**
 * Measures a product of its own, a replica of each service, with rounds of dice of which half win, at three
 * rates. Linux only. Takes about three minutes.
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
  const http = createHttpClient(product.demo().base_url, players)
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
  const paced = (work: Work, perSecond: number) => async () => {
    const failures: unknown[] = []
    const total = seconds * perSecond
    await sendOpenLoop(total, perSecond, (number) =>
      work(number % players).catch((error: unknown) => void failures.push(error)),
    )
    if (failures.length > total / 100)
      throw new AggregateError(failures, `too slow for ${perSecond} a second`)
    return total - failures.length
  }

  const round = await workloads.round(http, product.demo())
  const read = await workloads.read(http, product.demo())
  await runLoad({ concurrency: 12, durationMs: warmUpMs, work: round })
  await runLoad({ concurrency: 2, durationMs: warmUpMs, work: read })
  await delay(settleMs)

  say('nothing at work')
  const still = await spentIn(async () => {
    await delay(seconds * 1000)
    return 0
  })
  const perSecondOf = ({ spent, tookS }: Awaited<ReturnType<typeof spentIn>>): Record<string, number> =>
    Object.fromEntries(spent.map(([name, ms]) => [name, ms / 1000 / tookS]))
  const idle = perSecondOf(still)
  const storedBefore = await storedOf()
  const points: Stretch[] = []
  let rounds = 0
  for (const perSecond of rates) {
    say(`rounds of dice, ${perSecond} a second`)
    const seen = await spentIn(paced(round, perSecond))
    await delay(settleMs)
    rounds += seen.count
    points.push({ roundsPerSecond: seen.count / seen.tookS, processorS: perSecondOf(seen) })
  }
  const storedAfter = await storedOf()
  say(`reads of a session, ${readsPerSecond} a second`)
  const reads = await spentIn(paced(read, readsPerSecond))
  const beyondIdleMs = ([name, ms]: readonly [string, number]) => ms - (idle[name] ?? 0) * reads.tookS * 1000
  return {
    engines: engines.kinds,
    idle,
    readMs: Object.fromEntries(reads.spent.map((one) => [one[0], beyondIdleMs(one) / reads.count])),
    points,
    bytesPerRound: perRound(({ bytes }) => bytes),
    documentsPerRound: perRound(({ documents }) => documents),
  }

  function perRound(figure: (stored: Stored) => number): Record<string, number> {
    const nothing = { bytes: 0, documents: 0 }
    const grown = ([name, stored]: [string, Stored]) =>
      [name, (figure(stored) - figure(storedBefore[name] ?? nothing)) / rounds] as const
    return Object.fromEntries(Object.entries(storedAfter).map(grown))
  }

  async function storedOf(): Promise<Record<string, Stored>> {
    const { state } = await (await jetstreamManager(bus.nc)).streams.info('EVENTS')
    const databases = await Promise.all(
      services.map(async (name) => [name, await storedIn(mongo.db(`${prefix}_${name}`))] as const),
    )
    return {
      ...Object.fromEntries(databases),
      events_stream: { bytes: state.bytes, documents: state.messages },
    }
  }
}

async function storedIn(db: Db): Promise<Stored> {
  let bytes = 0
  let documents = 0
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    for await (const document of db.collection(name).find()) {
      bytes += calculateObjectSize(document)
      documents += 1
    }
  }
  return { bytes, documents }
}
