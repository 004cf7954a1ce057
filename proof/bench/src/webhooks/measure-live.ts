import { z } from 'zod'
import type { Cleanup } from '../harness/cleanup.ts'
import { expectStatus, type HttpClient } from '../harness/http-client.ts'
import type { Latency } from '../harness/latency.ts'
import { signIn } from '../harness/operator.ts'
import type { Product } from '../harness/start-product.ts'
import { createProductWorld } from '../harness/product-world.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import type { Measured } from '../harness/measured.ts'
import { createPublisher, type Publisher } from './publish-events.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { timeArrivals } from './time-arrivals.ts'
import { sendOpenLoop } from '../harness/send-open-loop.ts'
import { until } from '../harness/until.ts'

/** The second needs a machine that nothing else uses; see docs/benchmarks.md. */
const eventsPerSecond = [200, 600]
const burstEvents = 2000
const burstWidth = 32
const burstEndpoints = [1, 8]
const wideInFlight = 64
const endpoint = z.object({ webhook_id: z.string() })

type Steady = { eventsPerSecond: number; rate: number; sent: number; latencyMs: Latency }
type Burst = { endpoints: number; inFlight?: number; deliveries: number; perSecond: number }

/**
 * Time from the stream's acknowledgement of an event to its arrival at 200 and at 600 events/s, and how
 * many deliveries/s a backlog reaches: of one endpoint, of eight, and of one with 64 in flight.
 */
export async function measureLive(
  steadySeconds: number,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const { engines, product, demo, http } = await createProductWorld({
    name: 'webhooks',
    connections: 2,
    cleanup,
    say,
  })
  const receiver = await startReceiver()
  cleanup.add(() => receiver.close())
  const token = await signIn(http, demo)
  await expectStatus(
    204,
    http.send('DELETE', `/v1/dashboard/webhooks/${demo.receiver.webhook_id}`, { token }),
  )
  const publisher = await createPublisher(engines.natsUrl.product, uuidOf(demo.operator_id))
  cleanup.add(() => publisher.close())

  const first = await addEndpoint(http, token, `${receiver.url}/0`)
  const steady: Steady[] = []
  for (const wanted of eventsPerSecond) {
    say(`${wanted} events/s for ${steadySeconds} s`)
    steady.push(await runSteady(publisher, receiver, wanted, steadySeconds))
  }
  const bursts: Burst[] = []
  const ids = [first]
  for (const endpoints of burstEndpoints) {
    while (ids.length < endpoints) ids.push(await addEndpoint(http, token, `${receiver.url}/${ids.length}`))
    say(`${burstEvents} events at once to ${endpoints} endpoints`)
    bursts.push(await runBurst(product, publisher, receiver, endpoints))
  }
  for (const id of ids) {
    await expectStatus(204, http.send('DELETE', `/v1/dashboard/webhooks/${id}`, { token }))
  }
  await addEndpoint(http, token, `${receiver.url}/wide`, wideInFlight)
  say(`${burstEvents} events at once to one endpoint with ${wideInFlight} in flight`)
  bursts.push({ ...(await runBurst(product, publisher, receiver, 1)), inFlight: wideInFlight })
  return { result: { engines: engines.kinds, steady, bursts }, text: render(steady, bursts) }
}

/** An open loop: events come at their times, whether or not the ones before have arrived. */
async function runSteady(
  publisher: Publisher,
  receiver: Receiver,
  wanted: number,
  seconds: number,
): Promise<Steady> {
  const { latency, sent } = timeArrivals(receiver)
  const total = wanted * seconds
  const rate = await sendOpenLoop(total, wanted, async () => {
    sent(await publisher.publish())
  })
  await until('every event to arrive', () => latency.count() >= total)
  return { eventsPerSecond: wanted, rate, sent: total, latencyMs: latency.read() }
}

/** A backlog: webhooks stands still while all events are published; then every endpoint gets each. */
async function runBurst(
  product: Product,
  publisher: Publisher,
  receiver: Receiver,
  endpoints: number,
): Promise<Burst> {
  const deliveries = burstEvents * endpoints
  const seen = new Set<string>()
  let firstMs = 0
  let lastMs = 0
  receiver.onArrival((id, path, atMs) => {
    firstMs ||= atMs
    lastMs = atMs
    seen.add(`${path} ${id}`)
  })
  const stopped = product
    .demo()
    .processes.flatMap(({ name, pid }) => (name === 'webhooks' && pid !== null ? [pid] : []))
  for (const pid of stopped) process.kill(pid, 'SIGSTOP')
  let left = burstEvents
  await Promise.all(
    Array.from({ length: burstWidth }, async () => {
      while (left-- > 0) await publisher.publish()
    }),
  )
  for (const pid of stopped) process.kill(pid, 'SIGCONT')
  await until('every delivery of the burst', () => seen.size >= deliveries)
  return { endpoints, deliveries, perSecond: deliveries / ((lastMs - firstMs) / 1000) }
}

async function addEndpoint(http: HttpClient, token: string, url: string, inFlight = 8): Promise<string> {
  const body = { url, environment: 'TEST', events: [], description: 'benchmark', max_in_flight: inFlight }
  const text = await expectStatus(201, http.send('POST', '/v1/dashboard/webhooks', { token, body }))
  return endpoint.parse(JSON.parse(text)).webhook_id
}

function uuidOf(handle: string): string {
  return handle.slice(3).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function render(steady: readonly Steady[], bursts: readonly Burst[]): string {
  const arrivals = steady.map(({ eventsPerSecond: wanted, rate, latencyMs }) => [
    `${wanted} events/s`,
    rate.toFixed(0),
    ...latencyCells(latencyMs),
  ])
  const rows = bursts.map(({ endpoints, inFlight = 8, deliveries, perSecond }) => [
    `backlog to ${endpoints} endpoints, ${inFlight} in flight`,
    String(deliveries),
    perSecond.toFixed(0),
  ])
  return `${renderTable(['published, then arrived', 'reached', 'p50 ms', 'p95 ms', 'p99 ms'], arrivals)}

${renderTable(['capacity', 'deliveries', 'per s'], rows)}`
}
