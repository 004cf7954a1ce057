import { setTimeout as delay } from 'node:timers/promises'
import { type ConsumerMessages, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { Logger } from 'pino'
import type { Bus } from './connect-bus.ts'
import { webhooksFanout } from './topology.ts'
import { callHeaders } from './wire.ts'

/** One delivered message. Acknowledge after the write it causes, never before. */
export type DurableMessage = {
  /** Sequence in the stream. */
  readonly seq: number
  readonly subject: string
  /** The publisher's message id (the event's id), or null. */
  readonly id: string | null
  readonly data: Uint8Array
  /** The publisher's `traceparent`, or null. */
  readonly traceparent: string | null
  readonly redelivered: boolean
  /** 1 for the first delivery. */
  readonly deliveryCount: number
  /** Messages behind it that the consumer had yet to give then. */
  readonly pending: number
  /** Does nothing, as `nak` does, once the connection that brought the message is lost: it comes again. */
  ack(): void
  /** Asks for it again after `delayMs`. It keeps its place among the unacknowledged meanwhile. */
  nak(delayMs: number): void
}

const pullExpiresMs = 5000
const backoffFirstMs = 100
const backoffLastMs = 2000
const failedBatchDelayMs = 1000

/**
 * Works a durable consumer in batches, one at a time, oldest first: all messages that have arrived, at most
 * `batchMax`. When `handle` throws, the messages that it left unanswered come again a second later. A lost
 * connection, a deleted and a recreated consumer only pause it. `stop()` takes no more and waits for the
 * batch at work.
 */
export function consumeDurable({
  bus,
  stream,
  consumer,
  batchMax,
  gatherMs = 0,
  handle,
  logger,
}: {
  bus: Bus
  stream: string
  consumer: string
  batchMax: number
  /** How long the first message after a rest waits for others. */
  gatherMs?: number
  handle: (messages: readonly DurableMessage[]) => Promise<void>
  logger: Logger
}): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let pull: ConsumerMessages | null = null
  // What is on its way must arrive before the subscription ends: only then can it be given back, else it
  // waits for its ack_wait.
  let arrivedAll: Promise<void> = Promise.resolve()
  const js = jetstream(bus.nc)

  const pause = (ms: number) => delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined)

  const pullLoop = async () => {
    let backoffMs = backoffFirstMs
    while (!stopping.signal.aborted) {
      const link = bus.present()
      if (link.aborted) {
        await pause(backoffFirstMs)
        continue
      }
      try {
        const source = await js.consumers.get(stream, consumer)
        pull = await source.consume({
          max_messages: batchMax,
          expires: pullExpiresMs,
          abort_on_missing_resource: true,
        })
        backoffMs = backoffFirstMs
        await work(pull, link)
        if (!stopping.signal.aborted && !link.aborted) logger.warn({ consumer }, 'consumer.ended')
      } catch (err) {
        if (!stopping.signal.aborted) logger.warn({ err, consumer }, 'consumer.interrupted')
      }
      // Not awaited: the client's close() hangs when its iterator was left early.
      pull?.stop()
      pull = null
      await pause(backoffMs)
      backoffMs = Math.min(backoffMs * 2, backoffLastMs)
    }
  }

  /**
   * Two tasks and a bounded buffer, since the client cannot tell how many wait in its iterator. A pull ends
   * with its connection. What it has brought is still worked, but gets no answer: an answer names a sequence,
   * and a broker whose files were set back has given it to another message by the next connection.
   */
  async function work(messages: ConsumerMessages, link: AbortSignal): Promise<void> {
    const buffer: JsMsg[] = []
    let ended = false
    let arrived = Promise.withResolvers<void>()
    let taken = Promise.withResolvers<void>()
    const fill = async () => {
      try {
        for await (const message of messages) {
          buffer.push(message)
          arrived.resolve()
          if (buffer.length >= batchMax && !stopping.signal.aborted) await taken.promise
        }
      } finally {
        ended = true
        arrived.resolve()
      }
    }
    const filled = fill()
    filled.catch(() => undefined)
    const onLost = () => messages.stop()
    link.addEventListener('abort', onLost)
    while (!stopping.signal.aborted) {
      if (buffer.length === 0) {
        if (ended) break
        await arrived.promise
        arrived = Promise.withResolvers()
        if (gatherMs > 0) await pause(gatherMs)
        continue
      }
      const batch = buffer.splice(0, batchMax)
      taken.resolve()
      taken = Promise.withResolvers()
      await handleBatch(batch, link)
    }
    taken.resolve()
    await arrivedAll
    link.removeEventListener('abort', onLost)
    messages.stop()
    await filled.finally(() => {
      if (!link.aborted) for (const message of buffer) message.nak()
    })
  }

  async function handleBatch(batch: readonly JsMsg[], link: AbortSignal): Promise<void> {
    const unanswered = new Set(batch)
    const answerTo = (message: JsMsg, answer: () => void) => {
      unanswered.delete(message)
      if (!link.aborted) answer()
    }
    try {
      await handle(batch.map((message) => toDurableMessage(message, (answer) => answerTo(message, answer))))
    } catch (err) {
      logger.error({ err, consumer, messages: batch.length }, 'consumer.batch-failed')
      for (const message of unanswered) answerTo(message, () => message.nak(failedBatchDelayMs))
    }
  }

  const done = pullLoop()
  return {
    async stop() {
      if (bus.connected()) arrivedAll = bus.nc.flush().catch(() => undefined)
      stopping.abort()
      await arrivedAll
      pull?.stop()
      await done
    },
  }
}

/** @param answer sends an answer where it still may be sent */
function toDurableMessage(message: JsMsg, answer: (send: () => void) => void): DurableMessage {
  return {
    seq: message.seq,
    subject: message.subject,
    id: message.headers?.get('Nats-Msg-Id') || null,
    data: message.data,
    traceparent: message.headers?.get(callHeaders.traceparent) || null,
    redelivered: message.redelivered,
    deliveryCount: message.info.deliveryCount,
    pending: message.info.pending,
    ack: () => answer(() => message.ack()),
    nak: (delayMs) => answer(() => message.nak(delayMs)),
  }
}

/**
 * The stream sequence up to which a durable consumer has everything behind it; greater than any when nothing
 * is left for it. What has aged out of the stream holds it up no more than what its filter leaves out.
 */
export async function acknowledgedSequence(bus: Bus, stream: string, consumer: string): Promise<number> {
  const manager = await jetstreamManager(bus.nc, { checkAPI: false })
  const info = await manager.consumers.info(stream, consumer)
  const isIdle = info.num_pending === 0 && info.num_ack_pending === 0
  return isIdle ? Number.MAX_SAFE_INTEGER : info.ack_floor.stream_seq
}

/**
 * The newest event's sequence, the one up to which webhooks has recorded all, and the connection that said
 * so.
 * @param withFirst whether the oldest event's sequence is asked for, too
 * @throws when that connection was lost meanwhile, or there is none
 */
export async function eventsPosition(
  bus: Bus,
  withFirst = false,
): Promise<{ last: number; recorded: number; connection: number; first?: number }> {
  const { stream, config } = webhooksFanout
  const connection = bus.connection()
  const manager = await jetstreamManager(bus.nc, { checkAPI: false })
  const info = await manager.consumers.info(stream, config.durable_name)
  const first = withFirst ? { first: (await manager.streams.info(stream)).state.first_seq } : {}
  if (bus.connection() !== connection) throw new Error('the connection to NATS was lost meanwhile')
  const last = info.delivered.stream_seq + info.num_pending
  return { last, recorded: info.ack_floor.stream_seq, connection, ...first }
}

const retryMs = 250

/** Waits for durable consumers, which operations makes; logs once. @throws when `signal` aborts. */
export async function waitForTopology({
  bus,
  consumers,
  logger,
  signal,
}: {
  bus: Bus
  consumers: readonly { stream: string; name: string }[]
  logger: Logger
  signal?: AbortSignal
}): Promise<void> {
  const manager = await jetstreamManager(bus.nc, { checkAPI: false })
  let told = false
  for (const { stream, name } of consumers) {
    for (;;) {
      signal?.throwIfAborted()
      try {
        await manager.consumers.info(stream, name)
        break
      } catch (err) {
        if (!told) logger.warn({ err }, 'topology.awaited')
        told = true
        await delay(retryMs, undefined, signal === undefined ? {} : { signal })
      }
    }
  }
}
