import { jetstreamManager } from '@nats-io/jetstream'
import { Gauge, type Registry } from 'prom-client'
import type { Bus } from './connect-bus.ts'
import { type ConsumerDeclaration, eventsStream } from './topology.ts'
import type { ConsumerWatch } from './watch-consumer.ts'

/** Creates the gauges of a durable consumer, which are there while it is missing, too. */
export function createConsumerMetrics({
  registry,
  watch,
  consumer: { config },
}: {
  registry: Registry
  watch: Pick<ConsumerWatch, 'pending' | 'stalledMs'>
  consumer: ConsumerDeclaration
}): void {
  const labels = { consumer: config.durable_name }
  new Gauge({
    name: 'pitboss_consumer_pending',
    help: 'Messages that a durable consumer has yet to acknowledge',
    labelNames: ['consumer'],
    registers: [registry],
    collect() {
      this.reset()
      const pending = watch.pending()
      if (pending !== null) this.set(labels, pending)
    },
  })
  new Gauge({
    name: 'pitboss_consumer_stalled_seconds',
    help: 'For how long messages have waited of which a durable consumer has acknowledged none; new play is refused from 15 of webhooks-fanout on',
    labelNames: ['consumer'],
    registers: [registry],
    collect() {
      this.set(labels, watch.stalledMs() / 1000)
    },
  })
}

/** Creates the gauge of how full the stream of events is, asked when Prometheus does. */
export function createStreamMetrics({
  registry,
  bus,
}: {
  registry: Registry
  bus: Pick<Bus, 'nc' | 'connected'>
}): void {
  new Gauge({
    name: 'pitboss_stream_used_ratio',
    help: 'Of the bytes that the stream of events may hold, the share that it holds; 0 without a bound. A full stream refuses new play',
    labelNames: ['stream'],
    registers: [registry],
    async collect() {
      this.reset()
      if (!bus.connected()) return
      const manager = await jetstreamManager(bus.nc, { checkAPI: false })
      const { config, state } = await manager.streams.info(eventsStream.name)
      this.set({ stream: config.name }, config.max_bytes > 0 ? state.bytes / config.max_bytes : 0)
    },
  })
}
