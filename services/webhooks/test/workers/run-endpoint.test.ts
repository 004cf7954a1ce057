import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { createClaimDeliveries } from '../../src/actions/claim-deliveries.ts'
import { newHealth } from '../../src/rules/endpoint-health.ts'
import type { DueDelivery, EndpointDocument } from '../../src/storage/collections.ts'
import { newDocument } from '../../src/storage/new-delivery.ts'
import { runEndpoint, type RunnerDeps } from '../../src/actions/run-endpoint.ts'
import { createSlots } from '../../src/actions/slots.ts'

const logger = pino({ level: 'silent' })
const triesMax = 50

const scope = { operatorId: 'an operator', environment: 'SANDBOX' } as const
const endpoint = {
  ...{ _id: 'whe_1', ...scope, leaseToken: 1, leaseAhead: 16, wakes: 0, version: 1, deletedAt: null },
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
function depsOf(slots: RunnerDeps['slots'], onSettled: () => void): RunnerDeps {
  const bodies = { of: async () => new Map([['evt_1', '{}']]) }
  const deliveries = {
    claim: async (due: readonly DueDelivery[]) =>
      due.map((one) => ({ ...one, attemptCount: one.attemptCount + 1, claimToken: 1 })),
    hasHeld: async () => false,
    upcoming: async () => ({
      lanes: { fresh: waiting, retry: [], replay: [], manual: [] },
      open: new Set<never>(),
    }),
  }
  const endpoints = { readTogether: async () => endpoint, release: async () => undefined }
  const record = { sentAt: new Date(0), durationMs: 1, httpStatus: 500, error: null }
  const parts: { [Name in keyof RunnerDeps]?: unknown } = {
    ...{ endpoints, deliveries, slots, logger, clock: { now: () => new Date() }, newId: () => 'rng_1' },
    events: { endOf: async () => 0 },
    tail: { readAfter: async () => [] },
    ranges: { endOf: async () => null },
    claimDeliveries: createClaimDeliveries({ deliveries, bodies } as never),
    makeAttempt: async () => ({ ok: false, at: new Date(0), record }),
    async settleAttempt({ delivery: ended }: { delivery: DueDelivery }) {
      await turn()
      onSettled()
      const isOver = ended.attemptCount === triesMax
      const again = isOver ? null : { ...ended, dueAt: new Date(0), claimToken: 0 }
      await turn()
      return { status: isOver ? 'FAILED' : 'PENDING', written: true, again }
    },
    recoverOrphans: async () => 0,
    recordSuccesses: { add: () => undefined, flush: async () => undefined },
    isAlive: () => true,
    onAttempt: () => undefined,
  }
  return parts as RunnerDeps
}

t.test('a delivery that waits again gives its place back, however soon it is found waiting', async (t) => {
  const slots = createSlots({ totalMax: 64 })
  let attempts = 0
  const settled = Promise.withResolvers<void>()
  const deps = depsOf(slots, () => {
    attempts += 1
    if (attempts === waiting.length * triesMax) settled.resolve()
  })
  const runner = runEndpoint(deps, { endpoint, mayHaveSent: 0, isClean: true })
  await settled.promise
  runner.stop()
  await runner.done
  t.equal(attempts, waiting.length * triesMax)
  t.equal(slots.inFlight(), 0)
})
