import type { DurableMessage } from '@pitboss/bus/consume-durable'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { RewindStore } from '@pitboss/storage/rewind-store'
import type { HandledMessage } from '@pitboss/storage/rewind-tally'
import type { Logger } from 'pino'
import type { ParkedStore } from '../storage/parked-store.ts'
import { type EventMessage, readEventMessage } from '../rules/read-event-message.ts'
import type { RecordEvents } from '../actions/record-events.ts'

export const fanoutConsumer = 'webhooks-fanout'
const failuresMax = 5
const poisonDelayMs = 200

type Poison = { readonly message: DurableMessage; readonly error: string }

/**
 * Handles a batch of the event stream: records, makes deliveries, then acknowledges. What can't be read is asked for again and parked
 * at its fifth failure; it holds nothing else back. A throw (the database is away) leaves the whole batch to be asked for again.
 */
export function createHandleFanoutBatch({
  recordEvents,
  parked,
  rewinds,
  clock,
  logger,
}: {
  recordEvents: RecordEvents
  parked: ParkedStore
  rewinds: RewindStore
  clock: Clock
  logger: Logger
}): (messages: readonly DurableMessage[]) => Promise<void> {
  return async function handleFanoutBatch(messages) {
    const startedAtMs = performance.now()
    const readable: { message: DurableMessage; event: EventMessage }[] = []
    const poison: Poison[] = []
    for (const message of messages) {
      try {
        readable.push({ message, event: readEventMessage(message) })
      } catch (error) {
        poison.push({ message, error: error instanceof Error ? error.message : String(error) })
      }
    }
    const [changed, openRewinds] = await Promise.all([
      recordEvents(readable.map(({ event }) => event)),
      rewinds.open(),
    ])
    const results: HandledMessage[] = readable.map(({ message, event }) => ({
      seq: message.seq,
      result: changed.has(event.envelope.id) ? 'repaired' : 'unchanged',
    }))
    const parkedNow: DurableMessage[] = []
    for (const one of poison) if (await parkOrRepeat(one)) parkedNow.push(one.message)
    for (const { seq } of parkedNow) results.push({ seq, result: 'parked' })
    await rewinds.count(openRewinds, results)
    await failpoint('webhooks.before-ack')
    for (const message of [...readable.map(({ message }) => message), ...parkedNow]) message.ack()
    logger.info(
      {
        messages: messages.length,
        changed: changed.size,
        unreadable: poison.length,
        duration_ms: Math.round(performance.now() - startedAtMs),
      },
      'events.recorded',
    )
  }

  /** Whether the message is parked; else it comes again. */
  async function parkOrRepeat({ message, error }: Poison): Promise<boolean> {
    const { seq, subject, deliveryCount } = message
    if (deliveryCount < failuresMax) {
      message.nak(poisonDelayMs * deliveryCount)
      return false
    }
    await parked.park({
      consumer: fanoutConsumer,
      streamSeq: seq,
      subject,
      messageId: message.id,
      payload: Buffer.from(message.data).toString('base64'),
      error,
      deliveries: deliveryCount,
      parkedAt: clock.now(),
    })
    logger.error({ stream_seq: seq, subject, error }, 'message.parked')
    return true
  }
}
