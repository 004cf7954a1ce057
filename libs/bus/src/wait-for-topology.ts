import { setTimeout as delay } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import type { Logger } from 'pino'
import type { Bus } from './connect-bus.ts'

const retryMs = 250

/**
 * Waits until the named streams and durable consumers exist; the ops user makes them. Logs once while it waits.
 * @throws when `signal` aborts.
 */
export async function waitForTopology({
  bus,
  streams = [],
  consumers = [],
  logger,
  signal,
}: {
  bus: Bus
  streams?: readonly string[]
  consumers?: readonly { stream: string; name: string }[]
  logger: Logger
  signal?: AbortSignal
}): Promise<void> {
  const manager = await jetstreamManager(bus.nc, { checkAPI: false })
  const checks = [
    ...streams.map((name) => () => manager.streams.info(name)),
    ...consumers.map(
      ({ stream, name }) =>
        () =>
          manager.consumers.info(stream, name),
    ),
  ]
  let told = false
  for (const check of checks) {
    for (;;) {
      signal?.throwIfAborted()
      try {
        await check()
        break
      } catch (err) {
        if (!told) logger.warn({ err }, 'topology.awaited')
        told = true
        await delay(retryMs, undefined, signal === undefined ? {} : { signal })
      }
    }
  }
}
