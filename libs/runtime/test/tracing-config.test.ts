import t from 'tap'
import { z } from 'zod'
import { ConfigError, parseConfig } from '../src/load-config.ts'
import { isTracingWanted, tracingConfig, tracingSettingsOf } from '../src/tracing-config.ts'

const schema = z.object(tracingConfig)
const read = (environment: Record<string, string>) => parseConfig(schema, environment)
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }

t.test('tracing is off until somebody names an endpoint or the exporter', (t) => {
  t.equal(isTracingWanted(read({})), false)
  t.equal(isTracingWanted(read({ OTEL_TRACES_SAMPLER: 'always_on' })), false)
  t.equal(isTracingWanted(read(endpoint)), true)
  t.equal(isTracingWanted(read({ OTEL_TRACES_EXPORTER: 'otlp' })), true)
  t.equal(isTracingWanted(read({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })), false)
  t.equal(isTracingWanted(read({ ...endpoint, OTEL_SDK_DISABLED: 'true' })), false)
  t.end()
})

t.test('the variables mean what OpenTelemetry says', (t) => {
  const urlOf = (environment: Record<string, string>) => tracingSettingsOf('rounds', read(environment)).url
  t.equal(urlOf(endpoint), 'http://collector:4318/v1/traces')
  t.equal(
    urlOf({ ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t.example/x' }),
    'https://t.example/x',
  )
  t.equal(urlOf({ OTEL_TRACES_EXPORTER: 'otlp' }), 'http://localhost:4318/v1/traces')
  const settings = tracingSettingsOf(
    'rounds',
    read({
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc%3D%3D, x-a=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-a=2',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_SERVICE_NAME: 'our-rounds',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging,service.name=other',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    }),
  )
  t.match(settings, {
    headers: { authorization: 'Basic abc==', 'x-a': '2' },
    rule: { ratio: 0.25, hearsClients: true },
    resource: { 'service.name': 'our-rounds', 'deployment.environment.name': 'staging' },
    everyMs: 100,
  })
  t.match(tracingSettingsOf('rounds', read(endpoint)), {
    rule: { ratio: 1, hearsClients: true },
    resource: { 'service.name': 'rounds', 'service.namespace': 'pitboss' },
    ...{ queueMax: 2048, batchMax: 512, everyMs: 5000, timeoutMs: 10_000 },
  })
  t.end()
})

for (const [name, value] of [
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'no pair'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
  ['OTEL_BSP_SCHEDULE_DELAY', '0'],
] as const) {
  t.test(`${name}=${value} is refused by its name`, (t) => {
    t.throws(() => read({ [name]: value }), ConfigError)
    try {
      read({ [name]: value })
    } catch (error) {
      t.match(error, { variables: [name] })
    }
    t.end()
  })
}
