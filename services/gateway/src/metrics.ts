import { registerCounter, registerGauge, registerHistogram } from '@pitboss/runtime/register-metrics'
import type { Registry } from 'prom-client'

const bucketsS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]

export type Metrics = {
  observe(request: { route: string; status: number; code: string | null; latencyMs: number }): void
  /** A limit had no room for a request. @param limit a name of the code's */
  refused(limit: string): void
}

/**
 * Creates `pitboss_http_request_seconds` by route, status and code, `pitboss_http_in_flight`, and
 * `pitboss_limit_refusals_total` by limit. Labels come from the route table and the list of limits alone.
 */
export function createMetrics(registry: Registry, inFlight: () => number): Metrics {
  const [took, labels] = ['Time from request to answer', ['route', 'status', 'code']]
  const seconds = registerHistogram(registry, 'pitboss_http_request_seconds', took, bucketsS, labels)
  registerGauge(registry, 'pitboss_http_in_flight', 'Requests at work', inFlight)
  const full = 'Requests for which a limit had no room'
  const refusals = registerCounter(registry, 'pitboss_limit_refusals_total', full, 'limit')
  return {
    refused: (limit) => refusals.inc({ limit }),
    observe({ route, status, code, latencyMs }) {
      seconds.observe({ route, status: String(status), code: code ?? '' }, latencyMs / 1000)
    },
  }
}
