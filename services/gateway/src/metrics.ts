import { Gauge, Histogram, type Registry } from 'prom-client'

export type Metrics = {
  observe(request: { route: string; status: number; code: string | null; latencyMs: number }): void
}

/**
 * Creates `pitboss_http_request_seconds` by route, status and code, and `pitboss_http_in_flight`. Labels come
 * from the route table alone.
 */
export function createMetrics(registry: Registry, inFlight: () => number): Metrics {
  const seconds = new Histogram({
    name: 'pitboss_http_request_seconds',
    help: 'Time from request to answer',
    labelNames: ['route', 'status', 'code'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers: [registry],
  })
  new Gauge({
    name: 'pitboss_http_in_flight',
    help: 'Requests at work',
    registers: [registry],
    collect() {
      this.set(inFlight())
    },
  })
  return {
    observe({ route, status, code, latencyMs }) {
      seconds.observe({ route, status: String(status), code: code ?? '' }, latencyMs / 1000)
    },
  }
}
