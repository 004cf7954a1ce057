import { samplerNames, samplingRuleOf } from '@pitboss/tracing/sampling-rule'
import { startTracing, type TracingSettings } from '@pitboss/tracing/start-tracing'
import type { Logger } from 'pino'
import { z } from 'zod'

const serviceVersion = '0.1.0'
const tellEveryMs = 60_000

const address = z
  .string()
  .regex(/^https?:\/\/[^/\s]+/, 'must look like http://collector:4318')
  .optional()

const pairs = z
  .string()
  .regex(/^\s*[^=,\s]+\s*=[^,]*(,\s*[^=,\s]+\s*=[^,]*)*$/, 'must be key=value, comma separated')
  .optional()

const count = (fallback: number, most: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, `must be a whole number from 1 to ${most}`)
    .transform(Number)
    .refine((value) => value >= 1 && value <= most, `must be a whole number from 1 to ${most}`)
    .default(fallback)

/**
 * OpenTelemetry's own variables for traces, in every service. Values that we do not follow are refused, not
 * ignored. Source: OpenTelemetry's specification of environment variables, and docs/traces.md.
 */
export const tracingConfig = {
  OTEL_SDK_DISABLED: z.enum(['true', 'false'], 'must be true or false').default('false'),
  /** Unset, an endpoint switches tracing on; nothing is sent to a default address. */
  OTEL_TRACES_EXPORTER: z.enum(['none', 'otlp'], 'must be otlp or none').optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: address,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address,
  OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(['http/protobuf'], 'must be http/protobuf').optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.enum(['http/protobuf'], 'must be http/protobuf').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_TIMEOUT: count(10_000, 60_000),
  OTEL_TRACES_SAMPLER: z
    .enum(samplerNames, `must be one of ${samplerNames.join(', ')}`)
    .default('parentbased_always_on'),
  /** The share of `…traceidratio`; 1 where unset. */
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.[0-9]{1,9})?|1(\.0{1,9})?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .optional(),
  OTEL_SERVICE_NAME: z.string().max(200).optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  OTEL_BSP_SCHEDULE_DELAY: count(5000, 60_000),
  OTEL_BSP_MAX_QUEUE_SIZE: count(2048, 100_000),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: count(512, 10_000),
} as const

const schema = z.object(tracingConfig)

export type TracingConfig = z.output<typeof schema>

/** Whether the process is to record traces: endpoint or exporter is named, and nothing switches it off. */
export function isTracingWanted(config: TracingConfig): boolean {
  if (config.OTEL_SDK_DISABLED === 'true' || config.OTEL_TRACES_EXPORTER === 'none') return false
  return config.OTEL_TRACES_EXPORTER === 'otlp' || endpointOf(config) !== null
}

/** The settings of tracing that the variables mean, for a service. */
export function tracingSettingsOf(service: string, config: TracingConfig): TracingSettings {
  return {
    rule: samplingRuleOf(config.OTEL_TRACES_SAMPLER, config.OTEL_TRACES_SAMPLER_ARG ?? 1),
    url: endpointOf(config) ?? 'http://localhost:4318/v1/traces',
    headers: {
      ...readPairs(config.OTEL_EXPORTER_OTLP_HEADERS),
      ...readPairs(config.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
    },
    timeoutMs: config.OTEL_EXPORTER_OTLP_TIMEOUT,
    resource: {
      'service.namespace': 'pitboss',
      'service.version': serviceVersion,
      'service.instance.id': `${service}-${process.pid}`,
      'service.name': service,
      ...readPairs(config.OTEL_RESOURCE_ATTRIBUTES),
      ...(config.OTEL_SERVICE_NAME === undefined ? {} : { 'service.name': config.OTEL_SERVICE_NAME }),
    },
    queueMax: config.OTEL_BSP_MAX_QUEUE_SIZE,
    batchMax: config.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    everyMs: config.OTEL_BSP_SCHEDULE_DELAY,
  }
}

/** Begins to trace where the variables ask for it; else null. Failed exports are logged once a minute. */
export async function beginTracing({
  service,
  config,
  logger,
}: {
  service: string
  config: TracingConfig
  logger: Logger
}): Promise<{ stop(): Promise<void> } | null> {
  if (!isTracingWanted(config)) return null
  let quietUntilMs = 0
  const tell = (problem: string) => {
    const nowMs = performance.now()
    if (nowMs < quietUntilMs) return
    quietUntilMs = nowMs + tellEveryMs
    logger.warn({ problem }, 'traces.not-exported')
  }
  return startTracing({ settings: tracingSettingsOf(service, config), tell })
}

/** The traces' own address as it is, or the common one with the path of traces. */
function endpointOf({
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own,
  OTEL_EXPORTER_OTLP_ENDPOINT: common,
}: TracingConfig): string | null {
  if (own !== undefined) return own
  return common === undefined ? null : `${common.replace(/\/+$/, '')}/v1/traces`
}

function readPairs(text: string | undefined): Record<string, string> {
  const entries = (text ?? '').split(',').filter((part) => part.includes('='))
  return Object.fromEntries(
    entries.map((part) => {
      const at = part.indexOf('=')
      return [part.slice(0, at).trim(), decodeURIComponent(part.slice(at + 1).trim())]
    }),
  )
}
