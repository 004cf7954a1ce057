import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api'
import type { SamplingRule } from './sampling-rule.ts'

/** Marks a span behind which nobody knows whether something was done. Collectors keep its whole trace. */
export const unknownOutcomeAttribute = 'pitboss.unknown_outcome'

const tracerName = 'pitboss'
const tracesKeptMax = 10_000
const traceparentPattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const liveKey = createContextKey('pitboss live span')

/** What the work below a span shares; work that outlives its span must not hang itself on it. */
type Live = { ended: boolean; readonly requestId: string | undefined }

export type SpanOptions = {
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal'
  /** The `traceparent` of the span above; null for none. Without it the live span is above. */
  readonly parent?: string | null | undefined
  /** The `traceparent` of the span above where no span is live. */
  readonly orParent?: string | undefined
  readonly attributes?: Attributes
  /** Shown on every log line below the span. */
  readonly requestId?: string | undefined
  /** The span goes on with something whose outcome is unknown: its trace is recorded from here on. */
  readonly isUnknown?: boolean
  /** `traceparent`s of spans that have to do with this one and are not above it. */
  readonly links?: readonly string[]
}

/** A span at work. */
export type OpenSpan = {
  set(attributes: Attributes): void
  /** The work ended with this error code. */
  fail(code: string): void
  /** Nobody knows whether the work was done: the span is recorded, and its trace from here on. */
  unknown(): void
  /** Its own `traceparent`, for what happens below it elsewhere; undefined while tracing is off. */
  readonly traceparent: string | undefined
  /** Runs work below the span. */
  run<Result>(work: () => Result): Result
  end(): void
}

const noSpan: OpenSpan = {
  set: () => undefined,
  fail: () => undefined,
  unknown: () => undefined,
  traceparent: undefined,
  run: (work) => work(),
  end: () => undefined,
}

/** Switched on once, by `startTracing`: while it is off, nothing here does more than to look at it. */
const state: { isOn: boolean; rule: SamplingRule | null } = { isOn: false, rule: null }
const tracesKept = new Set<string>()

/** Switches tracing on with its rule, or off with null. */
export function switchTracing(rule: SamplingRule | null): void {
  state.isOn = rule !== null
  state.rule = rule
}

/** Which traces this process records; null while tracing is off. */
export function samplingRule(): SamplingRule | null {
  return state.rule
}

/** Whether this process records traces. */
export function isTracing(): boolean {
  return state.isOn
}

/** Whether a span of this trace ended with an unknown outcome in this process. */
export function isKept(traceId: string): boolean {
  return tracesKept.has(traceId)
}

/** Opens a span, which its opener ends. */
export function openSpan(name: string, options: SpanOptions): OpenSpan {
  if (!state.isOn) return noSpan
  const above = contextAbove(options)
  const { isUnknown = false, attributes = {}, links = [], requestId } = options
  const span = trace.getTracer(tracerName).startSpan(
    name,
    {
      kind: SpanKind[kindNames[options.kind]],
      attributes: isUnknown ? { ...attributes, [unknownOutcomeAttribute]: true } : attributes,
      links: links.flatMap(toLink),
    },
    above,
  )
  const live: Live = { ended: false, requestId: requestId ?? liveIn(above)?.requestId }
  const below = trace.setSpan(above, span).setValue(liveKey, live)
  return {
    set: (more) => void span.setAttributes(more),
    fail: (code) => void span.setStatus({ code: SpanStatusCode.ERROR, message: code }),
    unknown() {
      span.setAttribute(unknownOutcomeAttribute, true)
      keep(span.spanContext().traceId)
    },
    get traceparent() {
      return toTraceparent(span.spanContext())
    },
    run: (work) => context.with(below, work),
    end() {
      live.ended = true
      span.end()
    },
  }
}

const kindNames = {
  server: 'SERVER',
  client: 'CLIENT',
  producer: 'PRODUCER',
  consumer: 'CONSUMER',
  internal: 'INTERNAL',
} as const

/** Runs work below a span, which a throw ends as failed. While tracing is off, it is the work alone. */
export async function inSpan<Result>(
  name: string,
  options: SpanOptions,
  work: (span: OpenSpan) => Promise<Result>,
): Promise<Result> {
  if (!state.isOn) return work(noSpan)
  const span = openSpan(name, options)
  try {
    return await span.run(() => work(span))
  } catch (error) {
    span.fail(nameOf(error))
    throw error
  } finally {
    span.end()
  }
}

/** The `traceparent` of the live span; undefined without one and while tracing is off. */
export function liveTraceparent(): string | undefined {
  const span = liveSpan()
  return span === null ? undefined : toTraceparent(span.spanContext())
}

/** As `liveTraceparent`, of a recorded trace alone: for what is stored for later. */
export function recordedTraceparent(): string | undefined {
  const traceparent = liveTraceparent()
  return traceparent?.endsWith('-01') === true ? traceparent : undefined
}

/** The live span when it is recorded; null without one. */
export function recordedSpan(): Span | null {
  const span = liveSpan()
  return span?.isRecording() === true ? span : null
}

/** What log lines show of the live span: its ids, and that of its request. */
export function logFields(): { trace_id?: string; span_id?: string; request_id?: string } {
  const span = liveSpan()
  if (span === null) return {}
  const { traceId, spanId } = span.spanContext()
  const requestId = liveIn(context.active())?.requestId
  return {
    trace_id: traceId,
    span_id: spanId,
    ...(requestId === undefined ? {} : { request_id: requestId }),
  }
}

/** The same `traceparent` with the flag that tells whether it is recorded; null for a malformed one. */
export function withSampled(traceparent: string, isSampled: boolean): string | null {
  const known = toSpanContext(traceparent)
  if (known === null) return null
  return toTraceparent({ ...known, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE })
}

function liveSpan(): Span | null {
  if (!state.isOn) return null
  const active = context.active()
  const live = liveIn(active)
  return live === null || live.ended ? null : (trace.getSpan(active) ?? null)
}

function liveIn(within: Context): Live | null {
  const value = within.getValue(liveKey)
  return isLive(value) ? value : null
}

function isLive(value: unknown): value is Live {
  return typeof value === 'object' && value !== null && 'ended' in value
}

function contextAbove({ parent, orParent }: SpanOptions): Context {
  const wanted = parent === undefined && liveSpan() === null ? orParent : parent
  if (wanted === undefined && liveSpan() !== null) return context.active()
  const above = wanted === undefined || wanted === null ? null : toSpanContext(wanted)
  return above === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...above, isRemote: true })
}

function toSpanContext(traceparent: string): SpanContext | null {
  const [, traceId, spanId, flags] = traceparentPattern.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED }
  return trace.isSpanContextValid(spanContext) ? spanContext : null
}

function toLink(traceparent: string): Link[] {
  const spanContext = toSpanContext(traceparent)
  return spanContext === null ? [] : [{ context: spanContext }]
}

function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0 || tracesKept.has(traceId)
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** Remembers a trace; the oldest leaves. */
function keep(traceId: string): void {
  const [oldest] = tracesKept
  if (tracesKept.size >= tracesKeptMax && oldest !== undefined) tracesKept.delete(oldest)
  tracesKept.add(traceId)
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
