import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { newHealthChanges } from '../../src/actions/settle-attempt.ts'
import { newHealth } from '../../src/rules/endpoint-health.ts'
import type { DueDelivery, EndpointDocument } from '../../src/storage/collections.ts'
import { newDocument } from '../../src/storage/new-delivery.ts'
import type { RunContext } from '../../src/actions/endpoint-run.ts'
import { runEndpoint, stopRun } from '../../src/actions/run-endpoint.ts'
import { createSlots } from '../../src/actions/slots.ts'

const logger = pino({ level: 'silent' })

const scope = { operatorId: 'an operator', environment: 'SANDBOX' } as const
const endpoint = {
  ...{ _id: 'whe_1', ...scope, leaseToken: 1, leaseAhead: 16, wakes: 0, version: 1, deletedAt: null },
  ...{ url: 'https://receiver.example', secrets: [] },
  ...{ events: [], pulledFor: null, beginsAfter: 0, heldRule: null, health: newHealth(8) },
} as unknown as EndpointDocument
const waiting = Array.from({ length: 6 }, (_, index): DueDelivery => {
  const { attempts: _attempts, ...due } = newDocument({
    ...{ _id: `dlv_${index}`, ...scope, webhookId: endpoint._id, eventId: 'evt_1' },
    ...{ eventType: 'round.started', lane: 'fresh', createdAt: new Date(0) },
  })
  return due
})

/** A runner over stores in memory, whose deliveries are due again as soon as they have failed. */
function contextOf(slots: RunContext['slots'], onSettled: (status: unknown) => void): RunContext {
  const deliveries = {
    claim: async (due: readonly DueDelivery[]) =>
      due.map((one) => ({ ...one, attemptCount: one.attemptCount + 1, claimToken: 1 })),
    hasHeld: async () => false,
    upcoming: async () => ({
      lanes: { fresh: waiting, retry: [], replay: [], manual: [] },
      open: new Set<never>(),
    }),
    async complete(_claimed: DueDelivery, { status }: { status?: unknown }) {
      await turn()
      onSettled(status)
      await turn()
      return true
    },
  }
  const endpoints = {
    readTogether: async () => endpoint,
    release: async () => undefined,
    change: async () => endpoint,
  }
  const answer = { ok: false, httpStatus: 500, error: null, headers: {}, excerpt: null, durationMs: 1 }
  const parts: { [Name in keyof RunContext]?: unknown } = {
    ...{ endpoints, deliveries, slots, logger, clock: { now: () => new Date() }, newId: () => 'rng_1' },
    ...{ random: () => 0, scaleMs: () => 0, notes: { tell: () => undefined } },
    events: { endOf: async () => 0, bodies: async () => new Map([['evt_1', '{}']]) },
    tail: { readAfter: async () => [] },
    ranges: { endOf: async () => null },
    post: async () => ({ ...answer, timings: null, oddities: [] }),
    memory: { healthChanges: newHealthChanges(), successes: new Map() },
    isAlive: () => true,
    onAttempt: () => undefined,
  }
  return parts as RunContext
}

t.test('a delivery that waits again gives its place back, however soon it is found waiting', async (t) => {
  const slots = createSlots({ totalMax: 64 })
  let [attempts, ended] = [0, 0]
  const settled = Promise.withResolvers<void>()
  const context = contextOf(slots, (status) => {
    attempts += 1
    if (status === 'FAILED') ended += 1
    if (ended === waiting.length) settled.resolve()
  })
  const run = runEndpoint(context, { endpoint, mayHaveSent: 0 })
  await settled.promise
  stopRun(run)
  await run.done
  t.ok(attempts > 5 * waiting.length, `${attempts} attempts`)
  t.equal(slots.inFlight(), 0)
})
