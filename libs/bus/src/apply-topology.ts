import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from 'nats'
import { absentConsumer, absentStream, orNull } from './or-null.ts'
import {
  boundedStreams,
  type ConsumerDeclaration,
  type EventsBounds,
  type StreamDeclaration,
  topology,
} from './topology.ts'

/** The change that was, or would be, made; `differences` names the fields that were not as declared. */
export type TopologyChange = {
  readonly what: string
  readonly change: 'created' | 'updated' | 'none'
  readonly differences: readonly string[]
}

/**
 * Creates or updates every stream, bucket and durable consumer with the rights of the ops user, reads each
 * back and compares: an old server drops fields that it does not know without a word. Repeating it changes
 * nothing.
 * @throws Error naming the stream or consumer and the fields that differ, or the stream that holds more than
 * it may.
 */
export async function applyTopology(
  nc: NatsConnection,
  {
    replicas,
    dryRun = false,
    events,
    streams = events === undefined ? topology.streams : boundedStreams(events),
    consumers = topology.consumers,
  }: ApplyOptions,
): Promise<TopologyChange[]> {
  const manager = await jetstreamManager(nc)
  const changes: TopologyChange[] = []
  for (const stream of streams) {
    changes.push(await applyStream(manager, { ...stream, num_replicas: replicas }, dryRun))
  }
  for (const consumer of consumers) changes.push(await applyConsumer(manager, consumer, dryRun))
  return changes
}

type ApplyOptions = {
  /** Replicas of each stream: 1, or 3 or 5 in a cluster of at least as many servers. */
  replicas: number
  dryRun?: boolean
  /** Unless told, the stream of events has no bound in bytes. */
  events?: EventsBounds
  streams?: readonly StreamDeclaration[]
  consumers?: readonly ConsumerDeclaration[]
}

async function applyStream(
  manager: JetStreamManager,
  declared: StreamDeclaration,
  dryRun: boolean,
): Promise<TopologyChange> {
  const what = `stream ${declared.name}`
  const present = await orNull(manager.streams.info(declared.name), absentStream)
  const planned = plan(what, declared, present?.config)
  refuseOverfull(what, declared, present?.state.bytes ?? 0)
  if (dryRun || planned.change === 'none') return planned
  await (present === null
    ? manager.streams.add({ ...declared })
    : manager.streams.update(declared.name, { ...present.config, ...declared }))
  refuseDifferences(what, declared, (await manager.streams.info(declared.name)).config)
  return planned
}

/** @throws Error when the stream holds more than it may: it would take no event from that moment on */
function refuseOverfull(what: string, { max_bytes: most = -1 }: StreamDeclaration, held: number): void {
  if (most <= 0 || held < most) return
  throw new Error(`${what} holds ${held} bytes, and may hold ${most}: give it more, or fewer days`)
}

async function applyConsumer(
  manager: JetStreamManager,
  { stream, config }: ConsumerDeclaration,
  dryRun: boolean,
): Promise<TopologyChange> {
  const name = config.durable_name ?? ''
  const what = `consumer ${name}`
  // In a dry run the stream of a consumer may not be there yet either.
  const present = await orNull(manager.consumers.info(stream, name), absentConsumer)
  const planned = plan(what, config, present?.config)
  if (dryRun || planned.change === 'none') return planned
  await (present === null
    ? manager.consumers.add(stream, { ...config })
    : manager.consumers.update(stream, name, { ...present.config, ...config }))
  refuseDifferences(what, config, (await manager.consumers.info(stream, name)).config)
  return planned
}

function plan(what: string, declared: object, present: object | undefined): TopologyChange {
  if (present === undefined) return { what, change: 'created', differences: [] }
  const found = differences(declared, present)
  return { what, change: found.length === 0 ? 'none' : 'updated', differences: found }
}

function refuseDifferences(what: string, declared: object, applied: object): void {
  const found = differences(declared, applied)
  if (found.length === 0) return
  throw new Error(
    `NATS did not take the configuration of ${what}: ${found.join(', ')}; is the server too old?`,
  )
}

/** `field: wanted … got …` for each declared field that the server holds differently. */
function differences(declared: object, applied: object): string[] {
  const got = new Map<string, unknown>(Object.entries(applied))
  return Object.entries(declared)
    .filter(([field, wanted]) => JSON.stringify(wanted) !== JSON.stringify(got.get(field)))
    .map(
      ([field, wanted]) =>
        `${field}: wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(got.get(field))}`,
    )
}
