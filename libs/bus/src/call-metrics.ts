import { registerHistogram } from '@pitboss/runtime/register-metrics'
import type { Registry } from 'prom-client'

/** Counts a call that was answered here: its subject, its code (`OK` for a success) and its time. */
export type CallMetrics = (served: { subject: string; code: string; durationMs: number }) => void

/** Creates `pitboss_call_seconds`, whose subjects are those of the table of calls. */
export function createCallMetrics(registry: Registry): CallMetrics {
  const help = 'Time to answer calls of other services, those refused for lack of places included'
  const bucketsS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15]
  const seconds = registerHistogram(registry, 'pitboss_call_seconds', help, bucketsS, ['call', 'code'])
  return ({ subject, code, durationMs }) =>
    seconds.observe({ call: subject, code: code === 'OK' ? '' : code }, durationMs / 1000)
}
