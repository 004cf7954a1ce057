import { setTimeout as delay } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import type { Logger } from 'pino'
import type { Bus } from './connect-bus.ts'

const retryMs = 250

/**
 * Waits until the named durable consumers, and so their streams, exist; the ops user makes them. Logs once
 * while it waits.
 * @throws when `signal` aborts.
 */
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
