import { randomUUID } from 'node:crypto'
import type { Cleanup } from '../harness/cleanup.ts'
import type { Latency } from '../harness/latency.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import { addEndpoint, firstEndpoint } from './add-endpoint.ts'
import type { Measured } from '../harness/measured.ts'
import { createPublisher, type Publisher } from './publish-events.ts'
import { type Behaviour, type Receiver, startReceiver } from './receiver.ts'
import { timeArrivals } from './time-arrivals.ts'
import { sendOpenLoop } from '../harness/send-open-loop.ts'
import { createWorld } from './start-service.ts'
import { until } from '../harness/until.ts'

const endpointCount = 500
const createdAtOnce = 8
const capacityEvents = 2000
const publishersWide = 32
const loadShare = 0.6
/** One in ten hangs, one in ten takes this long. */
const slowMs = 5000
const groups = 10

type Stretch = { rate: number; healthy: number; latencyMs: Latency }

/**
 * Healthy receivers among 500, each of an operator of its own, at 60 % of the capacity measured just before:
 * first when all are healthy, then when one in ten hangs and one in ten takes 5 s. The same receivers are
 * looked at both times.
 */
export async function measureNeighbours(
  seconds: number,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const world = await createWorld(cleanup)
  world.startService()
  const receiver = await startReceiver()
  cleanup.add(() => receiver.close())
  const operators = Array.from({ length: endpointCount }, () => randomUUID())
  const publisher = await createPublisher(world.engines.natsUrl.product, operators[0] ?? '')
  cleanup.add(() => publisher.close())
  say(`${endpointCount} endpoints, each of its own operator`)
  await firstEndpoint(world.bus, randomUUID(), `${receiver.url}/first`)
  const left = [...operators.entries()]
  const create = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      await addEndpoint(world.bus, next[1], `${receiver.url}/${next[0]}`)
    }
  }
  await Promise.all(Array.from({ length: createdAtOnce }, create))

  say(`capacity: ${capacityEvents} events at once`)
  const capacity = await measureCapacity(publisher, receiver, operators)
  const load = capacity * loadShare
  say(`${load.toFixed(0)} events/s for ${seconds} s, all healthy`)
  const alone = await runStretch(publisher, receiver, operators, load, seconds)
  say('the same with neighbours that hang and neighbours that are slow')
  receiver.behave((path) => behaviourOf(Number(path.slice(1))))
  const beside = await runStretch(publisher, receiver, operators, load, seconds)
  const ratio = beside.latencyMs.p99 / alone.latencyMs.p99
  const row = (name: string, { rate, latencyMs }: Stretch) => [
    name,
    rate.toFixed(0),
    ...latencyCells(latencyMs),
  ]
  const table = renderTable(
    ['healthy receivers', 'events/s', 'p50 ms', 'p95 ms', 'p99 ms'],
    [row('all healthy', alone), row('10 % hang, 10 % take 5 s', beside)],
  )
  return {
    result: { engines: world.engines.kinds, endpoints: endpointCount, capacity, alone, beside, ratio },
    text: `${endpointCount} endpoints, capacity ${capacity.toFixed(0)} deliveries/s, load ${loadShare * 100} % of it for ${seconds} s

${table}

p99 with neighbours to p99 without: ${ratio.toFixed(2)} (goal: at most 2)`,
  }
}

const isHealthy = (endpoint: number) => endpoint % groups > 1

function behaviourOf(endpoint: number): Behaviour {
  if (isHealthy(endpoint)) return { kind: 'ok' }
  return endpoint % groups === 0 ? { kind: 'hang' } : { kind: 'slow', afterMs: slowMs }
}

async function measureCapacity(
  publisher: Publisher,
  receiver: Receiver,
  operators: readonly string[],
): Promise<number> {
  const seen = new Set<string>()
  let firstMs = 0
  let lastMs = 0
  receiver.onArrival((id, _path, atMs) => {
    firstMs ||= atMs
    lastMs = atMs
    seen.add(id)
  })
  let number = 0
  const publish = async () => {
    while (number < capacityEvents) await publisher.publish(operators[number++ % operators.length])
  }
  await Promise.all(Array.from({ length: publishersWide }, publish))
  await until('every delivery of the capacity', () => seen.size >= capacityEvents)
  return capacityEvents / ((lastMs - firstMs) / 1000)
}

/** From the stream's acknowledgement to the arrival, at healthy receivers alone. */
async function runStretch(
  publisher: Publisher,
  receiver: Receiver,
  operators: readonly string[],
  perSecond: number,
  seconds: number,
): Promise<Stretch> {
  const { latency, sent } = timeArrivals(receiver, (path) => isHealthy(Number(path.slice(1))))
  const total = Math.round(perSecond * seconds)
  let healthy = 0
  const rate = await sendOpenLoop(total, perSecond, async (number) => {
    const endpoint = number % operators.length
    if (isHealthy(endpoint)) healthy += 1
    sent(await publisher.publish(operators[endpoint]))
  })
  await until('every event of a healthy receiver', () => latency.count() >= healthy)
  return { rate, healthy, latencyMs: latency.read() }
}
