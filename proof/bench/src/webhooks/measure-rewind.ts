import { packText } from '@pitboss/storage/packed'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { DeliverPolicy, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { Bus } from '@pitboss/bus/connect-bus'
import { fanoutRewind } from '@pitboss/contracts/calls/webhooks'
import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import { type Collections, collectionsOf } from '@pitboss/webhooks/storage/collections'
import { logKey } from '@pitboss/webhooks/storage/log-keys'
import type { Cleanup } from '../harness/cleanup.ts'
import { renderTable } from '../harness/table.ts'
import type { Measured } from '../harness/measured.ts'
import { sessionEvent } from './publish-events.ts'
import type { ServiceWorld } from '../harness/service-world.ts'
import { createWorld } from './start-service.ts'
import { until } from '../harness/until.ts'

const stream = 'EVENTS'
const consumer = 'webhooks-fanout'
const chunk = 500
const publishedAtOnce = 256
const lookEveryMs = 50

type Pass = { events: number; perSecond: number; seconds: number; repaired: number; unchanged: number }

/**
 * A rewind of the fan-out over a stream of which every event is recorded: how fast it goes when nothing is
 * missing, and that it changes nothing.
 */
export async function measureRewind(
  events: number,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const world = await createWorld(cleanup)
  const { bus, storage } = world
  const collections = collectionsOf(storage.db)
  world.startService()
  const operatorId = randomUUID()
  say(`${events} events, recorded`)
  const entries = Array.from({ length: events }, () => sessionEvent(operatorId, new Date()))
  await record(collections, operatorId, entries)
  await publishAll(bus, entries)
  const manager = await jetstreamManager(bus.nc)
  await until('the fan-out to have seen them', async () => {
    const { num_pending: pending, num_ack_pending: open } = await manager.consumers.info(stream, consumer)
    return pending + open === 0
  })
  const before = await statesOf(collections)
  say('the rewind')
  const pass = await rewind(world, manager, events)
  const after = await statesOf(collections)
  if (pass.repaired !== 0 || pass.unchanged !== events || !isDeepStrictEqual(before, after)) {
    throw new Error(`the rewind changed something: ${JSON.stringify({ pass, before, after })}`)
  }
  const row = [String(events), pass.perSecond.toFixed(0), String(pass.repaired), String(pass.unchanged)]
  return {
    result: { engines: world.engines.kinds, ...pass },
    text: renderTable(['rewind over events', 'per s', 'repaired', 'unchanged'], [row]),
  }
}

/**
 * Rewinds as `ops consumer rewind` does. The rate is that from the first counted batch on: before, the
 * service waits for its consumer.
 */
async function rewind({ bus }: ServiceWorld, manager: JetStreamManager, events: number): Promise<Pass> {
  const order = { by: 'benchmark', reason: 'measuring', dryRun: false }
  const { rewind_id: id } = await bus.call(fanoutRewind.start, { order, fromSeq: 1, toSeq: events })
  const { config } = await manager.consumers.info(stream, consumer)
  await manager.consumers.delete(stream, consumer)
  await manager.consumers.add(stream, {
    ...config,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: 1,
  })
  let first: { seen: number; atMs: number } | null = null
  for (;;) {
    const now = await bus.call(fanoutRewind.show, { rewindId: id })
    const atMs = performance.now()
    if (now.seen > 0) first ??= { seen: now.seen, atMs }
    if (now.done) {
      const seconds = first === null ? 0 : (atMs - first.atMs) / 1000
      const { repaired, unchanged } = now
      return { events, seconds, perSecond: (events - (first?.seen ?? 0)) / seconds, repaired, unchanged }
    }
    await delay(lookEveryMs)
  }
}

async function record(
  { log }: Collections,
  operatorId: string,
  entries: readonly RenderedEvent[],
): Promise<void> {
  const scope = { operatorId, environment: 'SANDBOX' } as const
  const type = 'game.session.created'
  const at = new Date()
  for (let start = 0; start < entries.length; start += chunk) {
    const part = entries.slice(start, start + chunk)
    await log.insertMany(
      part.map(({ id, body }, index) => ({
        _id: logKey(scope, start + index + 1),
        ...{ e: id, t: type, x: type, c: at, h: at, ra: at, targets: [], b: packText(body) },
      })),
    )
  }
}

async function publishAll(bus: Bus, entries: readonly RenderedEvent[]): Promise<void> {
  const left = entries.values()
  const publish = async () => {
    for (const { id, subject, body } of left) {
      await bus.publishEvent({ id, subject, payload: Buffer.from(body) })
    }
  }
  await Promise.all(Array.from({ length: publishedAtOnce }, publish))
}

/** Everything that a rewind could change, in numbers. */
async function statesOf({ log, deliveries, ranges }: Collections): Promise<object> {
  const [recorded, made, passed] = await Promise.all([
    log.countDocuments({}),
    deliveries.countDocuments({}),
    ranges.countDocuments({}),
  ])
  return { recorded, made, passed }
}
