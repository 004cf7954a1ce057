import { jetstreamManager } from '@nats-io/jetstream'
import { Gauge, type Registry } from 'prom-client'
import type { Bus } from './connect-bus.ts'
import type { ConsumerDeclaration } from './topology.ts'

/**
 * Creates `pitboss_consumer_pending`: messages that the durable consumer has not acknowledged, read from the
 * broker when Prometheus asks. While the broker is away it says nothing.
 */
export function createConsumerMetrics({
  registry,
  bus,
  consumer: { stream, config },
}: {
  registry: Registry
  bus: Pick<Bus, 'nc' | 'connected'>
  consumer: ConsumerDeclaration
}): void {
  const consumer = config.durable_name ?? ''
  new Gauge({
    name: 'pitboss_consumer_pending',
    help: 'Messages that a durable consumer has yet to acknowledge',
    labelNames: ['consumer'],
    registers: [registry],
    async collect() {
      this.reset()
      if (!bus.connected()) return
      const manager = await jetstreamManager(bus.nc, { checkAPI: false })
      const info = await manager.consumers.info(stream, consumer)
      this.set({ consumer }, info.num_pending + info.num_ack_pending)
    },
  })
}
