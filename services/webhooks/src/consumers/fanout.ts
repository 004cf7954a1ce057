import type { Bus } from '@pitboss/bus/connect-bus'
import { consumeDurable, type DurableMessage } from '@pitboss/bus/consume-durable'
import { webhooksFanout } from '@pitboss/bus/topology'
import { startPoll } from '@pitboss/runtime/poll'
import { createLeaseHolder, type Lease } from '@pitboss/storage/lease'
import type { Logger } from 'pino'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { HandledMessage } from '@pitboss/storage/rewind-tally'
import type { FanoutLateness } from '../actions/fanout-lateness.ts'
import type { CallDeps } from '../actions/deps.ts'
import { createParkedMessages } from '../actions/parked-messages.ts'
import { type EventMessage, readEventMessage } from '../actions/read-event-message.ts'
import { traceBatch } from '../actions/trace-batch.ts'

const batchMax = 500

/** How long a dead replica keeps the others from the consumer. */
export const fanoutLeaseTtlMs = 4000
const leaseEveryMs = 1000

/**
 * Works the fan-out consumer while this replica holds the lease, else waits for it. A replica that lost the
 * lease and does not know it does no harm: every write of a batch is idempotent.
 */
export function startFanout({
  bus,
  lease,
  handle,
  lateness,
  logger,
}: {
  bus: Bus
  lease: Lease
  lateness: Pick<FanoutLateness, 'forgive' | 'left'>
  handle: (messages: readonly DurableMessage[]) => Promise<void>
  logger: Logger
}): { holds(): boolean; stop(): Promise<void> } {
  const holder = createLeaseHolder(lease)
  let held: { token: number; heldAtMs: number; consumer: { stop(): Promise<void> } } | null = null

  function take(token: number): void {
    logger.info({ token }, 'fanout.taken')
    lateness.forgive()
    const { stream, config } = webhooksFanout
    const consumer = consumeDurable({
      bus,
      stream,
      consumer: config.durable_name,
      batchMax,
      handle,
      logger,
    })
    held = { token, heldAtMs: performance.now(), consumer }
  }

  async function leave(): Promise<void> {
    if (held === null) return
    const { token, consumer } = held
    held = null
    // At once, for a batch may wait for the database for long; and again, for one that began meanwhile.
    lateness.left()
    await consumer.stop()
    lateness.left()
    logger.info({ token }, 'fanout.left')
  }

  /**
   * Prolongs the lease or takes it. An outage of the database costs the consumer only once the lease has run
   * out.
   */
  async function holdLease(): Promise<void> {
    const askedAtMs = performance.now()
    try {
      const token = await holder.hold()
      if (held !== null && held.token !== token) await leave()
      if (held !== null) held.heldAtMs = askedAtMs
      else if (token !== null) take(token)
    } catch (err) {
      logger.warn({ err }, held === null ? 'fanout.lease-not-acquired' : 'fanout.lease-not-renewed')
      if (held === null || performance.now() - held.heldAtMs <= fanoutLeaseTtlMs) return
      await leave()
      await holder.release()
    }
  }
  const poll = startPoll({ event: 'fanout.interrupted', everyMs: leaseEveryMs, work: holdLease, logger })

  return {
    /** Whether this replica works the consumer. */
    holds: () => held !== null,
    async stop() {
      await poll.stop()
      await leave()
      await holder.release()
    },
  }
}

const failuresMax = 5
const unreadableDelayMs = 200

type Unreadable = { readonly message: DurableMessage; readonly error: string }

/**
 * Handles a batch of the event stream: records its events, then acknowledges. A message that cannot be read
 * comes again and is parked at its fifth failure; it holds up no other. A throw (the database is away) has
 * the whole batch come again.
 */
export function createHandleFanoutBatch(
  deps: CallDeps,
  lateness: FanoutLateness,
): (messages: readonly DurableMessage[]) => Promise<void> {
  const { recordEvents, rewinds, logger } = deps
  const parkedMessages = createParkedMessages(deps)

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
    lateness.began(readable.map(({ event }) => event.createdAt))
    const [changed, openRewinds] = await Promise.all([traceBatch(readable, recordEvents), rewinds.open()])
    const results: HandledMessage[] = readable.map(({ message, event }) => ({
      seq: message.seq,
      result: changed.has(event.envelope.id) ? 'repaired' : 'unchanged',
    }))
    const parkedNow: DurableMessage[] = []
    for (const one of unreadable) if (await parkOrRepeat(one)) parkedNow.push(one.message)
    const handled = [...readable.map(({ message }) => message), ...parkedNow]
    for (const { seq } of parkedNow) results.push({ seq, result: 'parked' })
    if (openRewinds.length > 0) lateness.forgive()
    lateness.ended((messages.at(-1)?.pending ?? 0) > 0)
    logger.info(
      {
        messages: messages.length,
        changed: changed.size,
        unreadable: unreadable.length,
        duration_ms: Math.round(performance.now() - startedAtMs),
      },
      'events.recorded',
    )
    await rewinds.count(openRewinds, results)
    await failpoint('webhooks.before-ack')
    for (const message of handled) message.ack()
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
