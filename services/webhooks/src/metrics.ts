import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { RunnerDeps } from './workers/endpoint-runner.ts'
import type { Slots } from './workers/slots.ts'

/** Counts and times attempts, and times the wait of a delivery for its first attempt. */
export function createMetrics(registry: Registry, slots: Slots): RunnerDeps['onAttempt'] {
  const attempts = new Counter({
    name: 'pitboss_webhook_attempts_total',
    help: 'Delivery attempts by result',
    labelNames: ['result'],
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'pitboss_webhook_attempt_seconds',
    help: 'Duration of delivery attempts',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15],
    registers: [registry],
  })
  const wait = new Histogram({
    name: 'pitboss_webhook_first_attempt_wait_seconds',
    help: 'From the making of a delivery to its first attempt',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300],
    registers: [registry],
  })
  const inFlight = new Gauge({
    name: 'pitboss_webhook_attempts_in_flight',
    help: 'Attempts in flight in this process',
    registers: [registry],
    collect() {
      inFlight.set(slots.inFlight())
    },
  })

  return ({ delivery, ok, sentAt, durationMs }) => {
    attempts.inc({ result: ok ? 'accepted' : 'failed' })
    duration.observe(durationMs / 1000)
    if (delivery.attemptCount === 1) {
      wait.observe(Math.max(0, sentAt.getTime() - delivery.createdAt.getTime()) / 1000)
    }
  }
}

/** Creates the gauge of how late events and deliveries are through this installation. */
export function createLatenessNote(registry: Registry): (worstMs: number) => void {
  const gauge = new Gauge({
    name: 'pitboss_webhook_late_seconds',
    help: 'How much later than their receivers would have it new events reach them; new play yields from one second on',
    registers: [registry],
  })
  return (worstMs) => gauge.set(worstMs / 1000)
}
