import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@pitboss/bus/connect-bus'
import { consumeDurable, type DurableMessage } from '@pitboss/bus/consume-durable'
import type { Lease } from '@pitboss/storage/lease'
import type { Logger } from 'pino'
import { fanoutConsumer } from './handle-fanout-batch.ts'

const batchMax = 500
const acquireEveryMs = 1000

/** How long a dead replica can keep the others from the consumer. */
export const fanoutLeaseTtlMs = 4000
const renewEveryMs = 1000

/**
 * Works the fan-out consumer while this replica holds the lease; else waits for it. A replica that has lost the lease unknowingly
 * does no harm: every write of a batch is idempotent.
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
  const stopping = new AbortController()
  const pause = (ms: number) => delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined)

  async function hold(token: number): Promise<void> {
    logger.info({ token }, 'fanout.taken')
    const consumer = consumeDurable({
      bus,
      stream: 'EVENTS',
      consumer: fanoutConsumer,
      batchMax,
      handle,
      logger,
    })
    try {
      let lastRenewedAtMs = performance.now()
      while (!stopping.signal.aborted) {
        await pause(renewEveryMs)
        const renewed = await lease.renew(token).catch((err: unknown) => {
          logger.warn({ err }, 'fanout.lease-not-renewed')
          return null
        })
        if (renewed === true) lastRenewedAtMs = performance.now()
        if (renewed === false || performance.now() - lastRenewedAtMs > fanoutLeaseTtlMs) break
      }
    } finally {
      await consumer.stop()
      await lease.release(token).catch((err: unknown) => logger.warn({ err }, 'fanout.lease-not-released'))
      logger.info({ token }, 'fanout.left')
    }
  }

  const loop = async () => {
    while (!stopping.signal.aborted) {
      const token = await lease.acquire().catch((err: unknown) => {
        logger.warn({ err }, 'fanout.lease-not-acquired')
        return null
      })
      if (token !== null) await hold(token)
      await pause(acquireEveryMs)
    }
  }
  const done = loop()

  return {
    async stop() {
      stopping.abort()
      await done
    },
  }
}
