import {
  type ConsumerInfo,
  type JetStreamManager,
  JetStreamApiError,
  jetstreamManager,
} from '@nats-io/jetstream'
import type { NatsConnection } from 'nats'
import { type ConsumerDeclaration, type StreamDeclaration, topology } from './topology.ts'

const streamNotFound = 10_059
const consumerNotFound = 10_014

/**
 * Creates or updates every stream, bucket and durable consumer with the rights of the ops user, reads each back and
 * compares: an old server drops fields that it does not know without a word. Repeating it changes nothing.
 * @throws Error naming the stream or consumer and the fields that differ.
 */
export async function applyTopology(
  nc: NatsConnection,
  { replicas, streams = topology.streams, consumers = topology.consumers }: ApplyOptions,
): Promise<void> {
  const manager = await jetstreamManager(nc)
  for (const stream of streams) await applyStream(manager, { ...stream, num_replicas: replicas })
  for (const consumer of consumers) await applyConsumer(manager, consumer)
}

type ApplyOptions = {
  replicas: number
  streams?: readonly StreamDeclaration[]
  consumers?: readonly ConsumerDeclaration[]
}

async function applyStream(manager: JetStreamManager, declared: StreamDeclaration): Promise<void> {
  const present = await orNull(manager.streams.info(declared.name), streamNotFound)
  if (present === null) await manager.streams.add({ ...declared })
  else if (differences(declared, present.config).length > 0) {
    await manager.streams.update(declared.name, { ...present.config, ...declared })
  }
  const applied = await manager.streams.info(declared.name)
  refuseDifferences(`stream ${declared.name}`, declared, applied.config)
}

async function applyConsumer(
  manager: JetStreamManager,
  { stream, config }: ConsumerDeclaration,
): Promise<void> {
  const name = config.durable_name ?? ''
  const present = await orNull(manager.consumers.info(stream, name), consumerNotFound)
  if (present === null) await manager.consumers.add(stream, { ...config })
  else if (differences(config, present.config).length > 0) await updateConsumer(manager, present, config)
  const applied = await manager.consumers.info(stream, name)
  refuseDifferences(`consumer ${name}`, config, applied.config)
}

async function updateConsumer(
  manager: JetStreamManager,
  present: ConsumerInfo,
  config: ConsumerDeclaration['config'],
): Promise<void> {
  await manager.consumers.update(present.stream_name, present.name, { ...present.config, ...config })
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

async function orNull<Info>(promise: Promise<Info>, absentCode: number): Promise<Info | null> {
  try {
    return await promise
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === absentCode) return null
    throw error
  }
}
