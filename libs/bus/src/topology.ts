import { AckPolicy, DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream'
import { nanos } from 'nats'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Declaration of a stream; the number of replicas is added when it is applied. */
export type StreamDeclaration = Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>

/** Declaration of a durable consumer, without its start: a rewind may have recreated it elsewhere. */
export type ConsumerDeclaration = {
  readonly stream: string
  readonly config: Pick<ConsumerConfig, 'ack_policy'> & Partial<ConsumerConfig> & { durable_name: string }
}

const dayMs = 24 * hourMs

/** How much the stream of events keeps. */
export type EventsBounds = {
  /** Bytes; a stream that has them takes no more events, which then wait in the journals. */
  readonly maxBytes: number
  /**
   * Hours for which an event is kept: the window for rewinds. What webhooks has not recorded by then comes
   * again from the journal.
   */
  readonly hours: number
}

/** The log of all events, `events.v1.<sandbox|live>.<operatorId>.<type>`; a type has dots of its own. */
export const eventsStream: StreamDeclaration = {
  name: 'EVENTS',
  description: 'Every event of every operator, for some days',
  subjects: ['events.v1.>'],
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  // What is full refuses: an event that was acknowledged never leaves before its days are over.
  discard: DiscardPolicy.New,
  max_age: nanos(30 * dayMs),
  max_bytes: -1,
  max_msg_size: 512 * 1024,
  duplicate_window: nanos(5 * minuteMs),
  allow_direct: true,
}

/** The bucket of revocations, switches and signing keys for the gateways; entries outlive every token. */
export const accessBucket = 'access'
/** Root of the subjects where the bucket's server publishes entries, revision in `Nats-Sequence`. */
export const accessNews = 'access.news'
export const accessStream: StreamDeclaration = {
  name: `KV_${accessBucket}`,
  description: 'Access state that gateways must not miss',
  subjects: [`$KV.${accessBucket}.>`],
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.New,
  max_age: nanos(26 * hourMs),
  max_msgs_per_subject: 1,
  max_msg_size: 64 * 1024,
  duplicate_window: nanos(2 * minuteMs),
  allow_direct: true,
  allow_rollup_hdrs: true,
  deny_delete: true,
  republish: { src: `$KV.${accessBucket}.>`, dest: `${accessNews}.>` },
}

/** Fans events out to deliveries. It never gives up on a message: webhooks parks a poison one itself. */
export const webhooksFanout: ConsumerDeclaration = {
  stream: 'EVENTS',
  config: {
    durable_name: 'webhooks-fanout',
    description: 'Records events and makes deliveries',
    ack_policy: AckPolicy.Explicit,
    // What a killed replica had taken comes again after this long; a batch takes a fraction of it, and a
    // repeated one does no harm.
    ack_wait: nanos(5000),
    max_ack_pending: 1000,
    max_deliver: -1,
    max_waiting: 64,
  },
}

/** Tells rounds of movements that ended later than the call that began them. */
export const roundsMovements: ConsumerDeclaration = {
  stream: 'EVENTS',
  config: {
    durable_name: 'rounds-movements',
    description: 'Late results of movements',
    filter_subject: 'events.v1.*.*.transaction.>',
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(30_000),
    max_ack_pending: 1000,
    max_deliver: -1,
    max_waiting: 64,
  },
}

export const topology = {
  streams: [eventsStream, accessStream],
  consumers: [webhooksFanout, roundsMovements],
} as const

/**
 * The streams with these bounds of the stream of events; the declared one has 30 days and no bound in bytes.
 */
export function boundedStreams({ maxBytes, hours }: EventsBounds): readonly StreamDeclaration[] {
  return topology.streams.map((stream) =>
    stream === eventsStream ? { ...stream, max_bytes: maxBytes, max_age: nanos(hours * hourMs) } : stream,
  )
}

/** The subject of an event. `operatorId` is the uuid with dashes. */
export function eventSubject(
  scope: { operatorId: string; environment: 'SANDBOX' | 'LIVE' },
  type: string,
): string {
  return `events.v1.${scope.environment.toLowerCase()}.${scope.operatorId}.${type}`
}
