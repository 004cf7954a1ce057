import { context, diag, DiagLogLevel, SpanKind, trace, TraceFlags } from '@opentelemetry/api'
import type { ReadableSpan, Sampler, SamplingResult, SpanProcessor } from '@opentelemetry/sdk-trace'
import { type SamplingRule, samplesOwnTrace } from './sampling-rule.ts'
import { isKept, switchTracing, unknownOutcomeAttribute } from './spans.ts'

/** Time that a process which stops gives to the spans that it still has. */
const lastExportMs = 2000

export type TracingSettings = {
  readonly rule: SamplingRule
  /** The collector's address for traces, with its path. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Attributes of every span's resource, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>
  /** Spans that wait for the next export, and time until it. */
  readonly queueMax: number
  readonly batchMax: number
  readonly everyMs: number
}

/**
 * Begins to record traces in this process and to send them by OTLP over HTTP. Its packages are loaded here,
 * so that a process without tracing never loads them. A collector that is away costs the spans and nothing
 * else; `tell` hears of it.
 */
export async function startTracing({
  settings,
  tell,
}: {
  settings: TracingSettings
  tell: (problem: string) => void
}): Promise<{ stop(): Promise<void> }> {
  const [sdk, { AsyncLocalStorageContextManager }, { resourceFromAttributes }, exporters] = await Promise.all(
    [
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-proto'),
    ],
  )
  const { rule, url, headers, timeoutMs, queueMax, batchMax, everyMs } = settings
  const hear = (...said: unknown[]) => tell(said.map(String).join(' ').slice(0, 500))
  const quiet = () => undefined
  diag.setLogger(
    { error: hear, warn: hear, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const exporter = new exporters.OTLPTraceExporter({
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
  })
  const batches = new sdk.BatchSpanProcessor({
    exporter,
    maxQueueSize: queueMax,
    maxExportBatchSize: Math.min(batchMax, queueMax),
    scheduledDelayMillis: everyMs,
    exportTimeoutMillis: timeoutMs,
  })
  const provider = new sdk.TracerProvider({
    sampler: samplerOf(rule),
    resource: resourceFromAttributes(settings.resource),
    spanProcessors: [keepUnknown(batches)],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
  switchTracing(rule)
  return {
    async stop() {
      switchTracing(null)
      const ended = provider.shutdown().catch((error: unknown) => hear(error))
      const late = new Promise((resolve) => setTimeout(resolve, lastExportMs).unref())
      await Promise.race([ended, late])
    },
  }
}

// SamplingDecision of the SDK, which is loaded when tracing is on.
const notRecord = 0
const record = 1
const recordAndSample = 2

/**
 * What the span above says goes; chance decides where there is none. Calls out of the process are recorded
 * in memory anyway, so that one whose outcome turns out to be unknown can be exported.
 */
function samplerOf(rule: SamplingRule): Sampler {
  return {
    shouldSample(above, traceId, _name, kind, attributes): SamplingResult {
      const parent = trace.getSpanContext(above)
      const isSampled =
        attributes[unknownOutcomeAttribute] === true ||
        isKept(traceId) ||
        (parent === undefined
          ? samplesOwnTrace(rule, traceId)
          : (parent.traceFlags & TraceFlags.SAMPLED) !== 0)
      if (isSampled) return { decision: recordAndSample }
      return { decision: kind === SpanKind.CLIENT ? record : notRecord }
    },
    toString: () => `Pitboss{${rule.ratio}}`,
  }
}

/** Exports sampled spans, and those with an unknown outcome. */
function keepUnknown(next: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, above) => next.onStart(span, above),
    onEnd: (span) => next.onEnd(span.attributes[unknownOutcomeAttribute] === true ? asSampled(span) : span),
    forceFlush: () => next.forceFlush(),
    shutdown: () => next.shutdown(),
  }
}

function asSampled(span: ReadableSpan): ReadableSpan {
  const spanContext = { ...span.spanContext(), traceFlags: TraceFlags.SAMPLED }
  return Object.create(span, { spanContext: { value: () => spanContext } })
}
