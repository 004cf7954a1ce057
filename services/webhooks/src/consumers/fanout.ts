import type { Bus } from '@pitboss/bus/connect-bus'
import { consumeDurable, type DurableMessage } from '@pitboss/bus/consume-durable'
import { webhooksFanout } from '@pitboss/bus/topology'
import { startPoll } from '@pitboss/runtime/poll'
import { createLeaseHolder, type Lease } from '@pitboss/storage/lease'
import type { Logger } from 'pino'

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
  logger,
}: {
  bus: Bus
  lease: Lease
  handle: (messages: readonly DurableMessage[]) => Promise<void>
  logger: Logger
}): { stop(): Promise<void> } {
  const holder = createLeaseHolder(lease)
  let held: { token: number; heldAtMs: number; consumer: { stop(): Promise<void> } } | null = null

  function take(token: number): void {
    logger.info({ token }, 'fanout.taken')
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
    await consumer.stop()
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
    async stop() {
      await poll.stop()
      await leave()
      await holder.release()
    },
  }
}
