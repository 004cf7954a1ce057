/** The values of OTEL_TRACES_SAMPLER. Source: OpenTelemetry's environment variables. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export type SamplerName = (typeof samplerNames)[number]

/** Which traces are recorded. */
export type SamplingRule = {
  /** Share of the traces that begin here, from 0 to 1. */
  readonly ratio: number
  /** Whether a client's wish, the flag of its `traceparent`, counts at all. */
  readonly hearsClients: boolean
}

/** The rule behind a sampler's name and its argument, which is the share of `…traceidratio`. */
export function samplingRuleOf(name: SamplerName, ratio: number): SamplingRule {
  const hearsClients = name.startsWith('parentbased_')
  if (name.endsWith('always_on')) return { ratio: 1, hearsClients }
  if (name.endsWith('always_off')) return { ratio: 0, hearsClients }
  return { ratio, hearsClients }
}

/**
 * Whether a trace that a client has begun is recorded. Its wish counts as long as `mayForce` says so; else
 * chance decides and not the trace's id, which the client may have chosen. Source: docs/traces.md.
 * @param draw a random number from 0 to below 1
 */
export function samplesClientTrace(
  rule: SamplingRule,
  { wished, mayForce, draw }: { wished: boolean; mayForce: () => boolean; draw: number },
): boolean {
  if (draw < rule.ratio) return true
  return rule.hearsClients && wished && mayForce()
}

const idBits = 0x1_0000_0000_0000

/**
 * Whether a trace that begins here is recorded. Twelve digits of its random id decide, so that every process
 * says the same.
 */
export function samplesOwnTrace({ ratio }: SamplingRule, traceId: string): boolean {
  return Number.parseInt(traceId.slice(-12), 16) < ratio * idBits
}
