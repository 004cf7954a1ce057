import type { DurableMessage } from '@pitboss/bus/consume-durable'
import { webhooksFanout } from '@pitboss/bus/topology'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { RewindStore } from '@pitboss/storage/rewind-store'
import type { HandledMessage } from '@pitboss/storage/rewind-tally'
import type { Logger } from 'pino'
import type { ParkedMessages } from '../actions/parked-messages.ts'
import { type EventMessage, readEventMessage } from '../actions/read-event-message.ts'
import type { RecordEvents } from '../actions/record-events.ts'

const failuresMax = 5
const unreadableDelayMs = 200

type Unreadable = { readonly message: DurableMessage; readonly error: string }

/**
 * Handles a batch of the event stream: records its events, creates their deliveries, then acknowledges. A
 * message that cannot be read comes again and is parked at its fifth failure; it holds up no other. A throw
 * (the database is away) has the whole batch come again.
 */
export function createHandleFanoutBatch({
  recordEvents,
  parkedMessages,
  rewinds,
  logger,
}: {
  recordEvents: RecordEvents
  parkedMessages: ParkedMessages
  rewinds: RewindStore
  logger: Logger
}): (messages: readonly DurableMessage[]) => Promise<void> {
  return async function handleFanoutBatch(messages) {
    const startedAtMs = performance.now()
    const readable: { message: DurableMessage; event: EventMessage }[] = []
    const unreadable: Unreadable[] = []
    for (const message of messages) {
      try {
        readable.push({ message, event: readEventMessage(message) })
      } catch (error) {
        unreadable.push({ message, error: error instanceof Error ? error.message : String(error) })
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
    for (const one of unreadable) if (await parkOrRepeat(one)) parkedNow.push(one.message)
    for (const { seq } of parkedNow) results.push({ seq, result: 'parked' })
    await rewinds.count(openRewinds, results)
    await failpoint('webhooks.before-ack')
    for (const message of [...readable.map(({ message }) => message), ...parkedNow]) message.ack()
    logger.info(
      {
        messages: messages.length,
        changed: changed.size,
        unreadable: unreadable.length,
        duration_ms: Math.round(performance.now() - startedAtMs),
      },
      'events.recorded',
    )
  }

  /** @returns whether the message is parked; else it comes again */
  async function parkOrRepeat({ message, error }: Unreadable): Promise<boolean> {
    if (message.deliveryCount < failuresMax) {
      message.nak(unreadableDelayMs * message.deliveryCount)
      return false
    }
    await parkedMessages.park(webhooksFanout.config.durable_name, message, error)
    return true
  }
}
