import { registerCounter, registerGauge, registerHistogram } from '@pitboss/runtime/register-metrics'
import { Gauge, type Registry } from 'prom-client'
import type { UnseenLag } from './actions/read-status.ts'
import { type DueLags, type EndpointLateness, noDueLags, standings, worstLags } from './rules/lateness.ts'
import type { RunContext } from './actions/endpoint-run.ts'
import type { Slots } from './actions/slots.ts'

const bucketsS = [0.01, 0.05, 0.1, 0.5, 1, 5]

export function createMetrics(registry: Registry, slots: Slots): RunContext['onAttempt'] {
  const ofAttempts = 'Delivery attempts by result'
  const attempts = registerCounter(registry, 'pitboss_webhook_attempts_total', ofAttempts, 'result')
  const took = 'Duration of delivery attempts'
  const duration = registerHistogram(registry, 'pitboss_webhook_attempt_seconds', took, [...bucketsS, 15])
  const [waited, waitsS] = ['From the making of a delivery to its first attempt', [...bucketsS, 30, 300]]
  const wait = registerHistogram(registry, 'pitboss_webhook_first_attempt_wait_seconds', waited, waitsS)
  const help = 'Attempts in flight in this process'
  registerGauge(registry, 'pitboss_webhook_attempts_in_flight', help, slots.inFlight)
  return (delivery, { ok, sentAt, durationMs }) => {
    attempts.inc({ result: ok ? 'accepted' : 'failed' })
    duration.observe(durationMs / 1000)
    if (delivery.attemptCount === 1)
      wait.observe(Math.max(0, sentAt.getTime() - delivery.createdAt.getTime()) / 1000)
  }
}

/** Creates the gauges of late events and deliveries. @param readDueLag reads what no worker sees */
export function createLatenessNote(registry: Registry, readDueLag: () => Promise<UnseenLag>) {
  let seen = noDueLags
  let lateS = 0
  const ofLate =
    'How much later than their receivers would have it new events reach them; new play yields from ten seconds on'
  registerGauge(registry, 'pitboss_webhook_late_seconds', ofLate, () => lateS)
  const breakersOpen = new Gauge({
    name: 'pitboss_webhook_breakers_open',
    help: 'Endpoints that get probes alone because ten attempts in a row failed',
    registers: [registry],
  })
  new Gauge({
    name: 'pitboss_webhook_due_lag_seconds',
    help: 'For how long the delivery that is longest due has been due, by how its endpoint stands; replays left out',
    labelNames: ['endpoints'] as const,
    registers: [registry],
    async collect() {
      const unseen = await readDueLag()
      breakersOpen.set(unseen.breakersOpen)
      const unhealthy = Math.max(seen.unhealthy, unseen.behindBreakerMs)
      const lags: DueLags = { ...seen, unhealthy, untaken: unseen.untakenMs }
      for (const standing of standings) this.set({ endpoints: standing }, lags[standing] / 1000)
    },
  })
  return (worstMs: number, endpoints: Iterable<EndpointLateness>): void => {
    lateS = worstMs / 1000
    seen = worstLags(endpoints)
  }
}
