import { randomUUID } from 'node:crypto'
import type { Cleanup } from '../harness/cleanup.ts'
import type { Measured } from '../harness/measured.ts'
import { median } from '../harness/run-pairs.ts'
import { startPart } from '../harness/start-part.ts'
import { renderTable } from '../harness/table.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'
import { until } from '../harness/until.ts'
import { firstEndpoint } from '../webhooks/add-endpoint.ts'
import { createPublisher, sessionEvent } from '../webhooks/publish-events.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { createWorld } from '../webhooks/start-service.ts'
import { startRedis } from './start-redis.ts'

const events = 2000
const publishedAtOnce = 32
/** Of an endpoint that nobody has changed. */
const inFlight = 8
const withinMs = 120_000

/**
 * How many deliveries of a backlog a second reach one receiver with eight in flight: webhooks, from the
 * stream, against a sender on BullMQ, from Redis that syncs what it acknowledges. Ours also keeps the events
 * as a log without gaps, and stores an attempt with what was answered.
 */
export async function measureSender(
  pairs: number,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const redis = await startRedis(temporaryFolder('bench-redis', cleanup), cleanup)
  say(`sender: starting engines and webhooks; redis-server ${redis.version}`)
  const environment = { REDIS_PORT: String(redis.port) }
  const { part } = await startPart('../peers/bullmq-main.ts', environment, cleanup)
  const world = await createWorld(cleanup)
  world.startService()
  const receiver = await startReceiver()
  cleanup.add(() => receiver.close())
  const operatorId = randomUUID()
  const publisher = await createPublisher(world.engines.natsUrl.product, operatorId)
  cleanup.add(() => publisher.close())
  await firstEndpoint(world.bus, operatorId, `${receiver.url}/ours`)

  const ours = () =>
    timeBurst(receiver, async () => {
      let left = events
      const publish = async () => {
        while (left-- > 0) await publisher.publish()
      }
      await Promise.all(Array.from({ length: publishedAtOnce }, publish))
    })
  const theirs = () =>
    timeBurst(receiver, async () => {
      const jobs = Array.from({ length: events }, () => sessionEvent(operatorId, new Date()))
      const sent = jobs.map(({ id, body }) => ({ id, body }))
      await part.ask({ events: sent, url: `${receiver.url}/theirs`, inFlight }, withinMs)
    })
  await ours()
  await theirs()
  const seen: { ours: number; theirs: number }[] = []
  for (let pair = 1; pair <= pairs; pair++) {
    const measured = { ours: await ours(), theirs: await theirs() }
    seen.push(measured)
    const rates = `ours ${measured.ours.toFixed(0)}/s, BullMQ ${measured.theirs.toFixed(0)}/s`
    say(`pair ${pair} of ${pairs}: ${rates}`)
  }
  const ratio = median(seen.map((one) => one.ours / one.theirs))
  const row = (name: string, rates: readonly number[]) => [name, median(rates).toFixed(0)]
  const rows = [
    row(
      'webhooks',
      seen.map((one) => one.ours),
    ),
    row(
      'BullMQ',
      seen.map((one) => one.theirs),
    ),
  ]
  return {
    result: { engines: world.engines.kinds, redis: redis.version, events, inFlight, seen, ratio },
    text: `${events} events at once to one receiver, ${inFlight} in flight, medians of ${pairs} pairs

${renderTable(['sender', 'deliveries/s'], rows)}

ratio: ${ratio.toFixed(2)}`,
  }
}

/** Deliveries a second, from the first arrival to the last. */
async function timeBurst(receiver: Receiver, publish: () => Promise<void>): Promise<number> {
  const seen = new Set<string>()
  let [firstMs, lastMs] = [0, 0]
  receiver.onArrival((id, _path, atMs) => {
    firstMs ||= atMs
    lastMs = atMs
    seen.add(id)
  })
  await publish()
  await until('every delivery of the burst', () => seen.size >= events, { withinMs })
  return events / ((lastMs - firstMs) / 1000)
}
