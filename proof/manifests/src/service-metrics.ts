import { createCallMetrics } from '@pitboss/bus/call-metrics'
import { createCallTokens } from '@pitboss/bus/call-tokens'
import { createConsumerMetrics, createStreamMetrics } from '@pitboss/bus/consumer-metrics'
import { roundsMovements, webhooksFanout } from '@pitboss/bus/topology'
import { createMetrics as createGatewayMetrics } from '@pitboss/gateway/metrics'
import { createPlayNotes, createStateNote, createYieldNote, registerMetrics } from '@pitboss/rounds/metrics'
import { createReceiptNote } from '@pitboss/rounds/wings/receipts/wing'
import { registerAlarms } from '@pitboss/rounds/wings/returns/wing'
import { createJournalMetrics } from '@pitboss/storage/journal/journal-metrics'
import { createWalletMetrics, registerBreakers, registerDueLags } from '@pitboss/wallet-bridge/metrics'
import { createLatenessNote, createMetrics as createWebhookMetrics } from '@pitboss/webhooks/metrics'
import { createSlots } from '@pitboss/webhooks/actions/slots'
import pino from 'pino'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { z } from 'zod'

const registered = z.array(
  z.looseObject({
    name: z.string(),
    help: z.string(),
    type: z.enum(['counter', 'gauge', 'histogram', 'summary']),
    labelNames: z.array(z.string()),
  }),
)
/** A metric as its service registers it. */
export type ServiceMetric = z.infer<typeof registered>[number]

const logger = pino({ level: 'silent' })

const nothing = () => ({ toArray: async () => [] })
const clock = { now: () => new Date(0) }
const bus = {
  connected: () => false,
  get nc(): never {
    throw new Error('there is no broker')
  },
}

const watch = { pending: () => null, stalledMs: () => 0 }

function registerCallMetrics(registry: Registry): void {
  createCallMetrics(registry)
  createCallTokens({ loadKeys: async () => [], mode: 'require', logger, registry })
}

/** Each service with the code that registers its metrics, so that no list can grow old. */
const registering: Readonly<Record<string, (registry: Registry) => void>> = {
  gateway(registry) {
    createGatewayMetrics(registry, () => 0)
  },
  auth: registerCallMetrics,
  rounds(registry) {
    registerCallMetrics(registry)
    registerMetrics(registry, { unfinished: async () => ({ count: 0, oldestAt: null }) })
    registerAlarms(registry, { countOpen: async () => 0 })
    createStateNote(registry)
    createJournalMetrics({ registry, instances: { find: nothing }, unownedTotal: () => 0, clock })
    createConsumerMetrics({ registry, watch, consumer: roundsMovements })
    createPlayNotes(registry, logger)
    createReceiptNote(registry, logger)
    createYieldNote(registry)
  },
  'wallet-bridge'(registry) {
    registerCallMetrics(registry)
    createWalletMetrics(registry)
    registerBreakers(registry, { open: () => [] })
    registerDueLags(registry, { dueLags: () => ({}) })
    createJournalMetrics({ registry, instances: { find: nothing }, unownedTotal: () => 0, clock })
  },
  webhooks(registry) {
    registerCallMetrics(registry)
    createConsumerMetrics({ registry, watch, consumer: webhooksFanout })
    createStreamMetrics({ registry, bus })
    createWebhookMetrics(registry, createSlots({ totalMax: 1 }))
    createLatenessNote(registry, async () => ({ breakersOpen: 0, behindBreakerMs: 0, untakenMs: 0 }))
  },
}

/** The metrics of each service, in the order in which its code registers them. */
export function serviceMetrics(): ReadonlyMap<string, readonly ServiceMetric[]> {
  return new Map(
    Object.entries(registering).map(([service, register]) => {
      const registry = new Registry()
      register(registry)
      return [service, registered.parse(registry.getMetricsAsArray())]
    }),
  )
}

/** The metrics of Node's process that every service has. */
export function processMetrics(): readonly ServiceMetric[] {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registered.parse(registry.getMetricsAsArray())
}
