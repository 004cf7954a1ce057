import { createCallTokens } from '@pitboss/bus/call-tokens'
import { createMetrics as createGatewayMetrics } from '@pitboss/gateway/metrics'
import { createConflictNote, registerMetrics } from '@pitboss/rounds/metrics'
import { createWalletMetrics } from '@pitboss/wallet-bridge/metrics'
import { createMetrics as createWebhookMetrics } from '@pitboss/webhooks/metrics'
import { createSlots } from '@pitboss/webhooks/workers/slots'
import pino from 'pino'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { z } from 'zod'

const labelled = z.array(
  z.looseObject({ name: z.string(), type: z.string(), labelNames: z.array(z.string()) }),
)

/** Names of labels that scraping adds: PodMonitor's, and the one that `run-service.ts` gives all metrics. */
const scraped = ['job', 'namespace', 'pod', 'service']

/**
 * Every metric that a service registers, by the names under which Prometheus keeps its series, with its
 * labels. It is read from the registering code itself, so that no list can grow old.
 */
export function knownMetrics(): ReadonlyMap<string, ReadonlySet<string>> {
  const registry = new Registry()
  const logger = pino({ level: 'silent' })
  collectDefaultMetrics({ register: registry })
  createGatewayMetrics(registry, () => 0)
  registerMetrics(registry, { unfinished: async () => ({ count: 0, oldestAt: null }) })
  createConflictNote(registry, logger)
  createWalletMetrics(registry)
  createWebhookMetrics(registry, createSlots({ totalMax: 1 }))
  createCallTokens({ loadKeys: async () => [], mode: 'require', logger, registry })
  const known = new Map<string, Set<string>>([['up', new Set(scraped)]])
  for (const { name, type, labelNames } of labelled.parse(registry.getMetricsAsArray())) {
    const labels = new Set([...labelNames, ...scraped])
    known.set(name, labels)
    if (type !== 'histogram') continue
    for (const part of ['_sum', '_count']) known.set(`${name}${part}`, labels)
    known.set(`${name}_bucket`, new Set([...labels, 'le']))
  }
  return known
}
