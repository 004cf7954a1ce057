import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@pitboss/bus/connect-bus'
import { consumeDurable, type DurableMessage } from '@pitboss/bus/consume-durable'
import { webhooksFanout } from '@pitboss/bus/topology'
import { failpoint } from '@pitboss/runtime/failpoint'
import { startPoll } from '@pitboss/runtime/poll'
import type { InstanceLease } from '@pitboss/storage/journal/instance-lease'
import type { HandledMessage } from '@pitboss/storage/rewind-tally'
import type { Logger } from 'pino'
import { type FanoutLateness, parkMessage, recordTraced } from '../actions/record-batch.ts'
import { type EventMessage, readEventMessage } from '../actions/record-events.ts'
import type { CallsContext } from '../context.ts'

const batchMax = 500
/** Two services send what they have of a round at the same time: together it is recorded in order. */
const gatherMs = 3
const leaseEveryMs = 1000

/** Consumes while this process's instance has the lease. @param self null if others may take it for dead */
export function startFanout(parts: {
  bus: Bus
  lease: InstanceLease
  self: () => string | null
  lateness: Pick<FanoutLateness, 'forgive' | 'left'>
  handle: (messages: Messages) => Promise<void>
  logger: Logger
}): { holds(): boolean; wake(): void; stop(): Promise<void> } {
  const { bus, lease, self, handle, lateness, logger } = parts
  let held: { readonly instance: string; readonly consumer: { stop(): Promise<void> } } | null = null

  function take(instance: string): void {
    logger.info({ instance }, 'fanout.taken')
    lateness.forgive()
    const { stream, config } = webhooksFanout
    const { durable_name: consumer } = config
    held = {
      instance,
      consumer: consumeDurable({ bus, stream, consumer, batchMax, gatherMs, handle, logger }),
    }
  }

  async function leave(): Promise<void> {
    if (held === null) return
    const { instance, consumer } = held
    held = null
    // At once, for a batch may wait for the database for long; and again, for one that began meanwhile.
    lateness.left()
    await consumer.stop()
    lateness.left()
    logger.info({ instance }, 'fanout.left')
  }

  const poll = startPoll({
    ...{ event: 'fanout.lease-not-acquired', level: 'warn', everyMs: leaseEveryMs },
    async work() {
      const instance = self()
      if (held !== null && held.instance !== instance) await leave()
      if (held === null && instance !== null && (await lease.hold(instance))) take(instance)
    },
    logger,
  })

  return {
    /** Whether this replica works the consumer. */
    holds: () => held !== null,
    /** Looks again at once, since other instances are alive. */
    wake: poll.wake,
    async stop() {
      await poll.stop()
      await leave()
      await lease.release()
    },
  }
}

type Messages = readonly DurableMessage[]
type Handled = Pick<HandledMessage, 'result'> & { readonly message: DurableMessage }

const failuresMax = 5
const unreadableDelayMs = 200

/** Records, then acknowledges. The unreadable is parked at its fifth failure; a throw repeats the batch. */
export async function handleFanoutBatch(c: CallsContext, lateness: FanoutLateness, messages: Messages) {
  const { recordEvents, rewinds, logger } = c
  const startedAtMs = performance.now()
  const readable: { message: DurableMessage; event: EventMessage }[] = []
  const unreadable: { message: DurableMessage; error: string }[] = []
  for (const message of messages) {
    try {
      readable.push({ message, event: readEventMessage(message) })
    } catch (error) {
      unreadable.push({ message, error: error instanceof Error ? error.message : String(error) })
    }
  }
  lateness.began(readable.map(({ event }) => event.createdAt))
  const [changed, openRewinds] = await Promise.all([recordTraced(readable, recordEvents), rewinds.open()])
  const handled = readable.map(({ message, event }): Handled => {
    return { message, result: changed.has(event.id) ? 'repaired' : 'unchanged' }
  })
  for (const { message, error } of unreadable) {
    if (message.deliveryCount < failuresMax) message.nak(unreadableDelayMs * message.deliveryCount)
    else {
      await parkMessage(c, webhooksFanout.config.durable_name, message, error)
      handled.push({ message, result: 'parked' })
    }
  }
  if (openRewinds.length > 0) lateness.forgive()
  lateness.ended((messages.at(-1)?.pending ?? 0) > 0)
  const duration_ms = Math.round(performance.now() - startedAtMs)
  const counts = { messages: messages.length, changed: changed.size, unreadable: unreadable.length }
  logger.info({ ...counts, duration_ms }, 'events.recorded')
  const results = handled.map(({ message: { seq }, result }) => ({ seq, result }))
  await rewinds.count(openRewinds, results)
  await failpoint('webhooks.before-ack')
  for (const { message } of handled) message.ack()
  await delay(pauseAfterBatchMs(performance.now() - startedAtMs))
}

/** Bounds of the time between two beginnings; within them it is so many times what the batch took. */
const [spacingLeastMs, spacingMostMs, spacingShare] = [10, 20, 3]

/** Milliseconds to wait after a batch: what comes meanwhile goes together, more where batches are dear. */
export function pauseAfterBatchMs(tookMs: number): number {
  const spacingMs = Math.min(spacingMostMs, Math.max(spacingLeastMs, spacingShare * tookMs))
  return Math.max(0, spacingMs - tookMs)
}
