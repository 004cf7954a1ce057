import { createSignal } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { PostWebhook } from '../clients/post-webhook.ts'
import { inFlightMaxOf } from '../rules/endpoint-health.ts'
import { createLateness } from '../rules/lateness.ts'
import type { DueDelivery } from '../storage/collections.ts'
import type { TakenEndpoint } from '../storage/endpoint-store.ts'
import type { HealthChanges } from './change-health.ts'
import type { Choice, Chosen } from './claim-deliveries.ts'
import type { WebhooksContext } from '../context.ts'
import { type EndpointView, openEndpointView } from './endpoint-view.ts'
import { createHeldSlots, type HeldSlots } from './held-slots.ts'
import { firstWaiting, type Passing } from './passing.ts'
import type { Slots } from './slots.ts'

/** A receiver that takes as long is slow. Source: ours. */
const slowMs = 1000
const fastKnownMax = 256

/** What the workers of a process keep for all endpoints. */
type WorkerMemory = {
  readonly healthChanges: HealthChanges
  /** Times of the last success of endpoints, which are yet to be written. */
  readonly successes: Map<string, Date>
}

/** What the worker of an endpoint works with. */
export type RunContext = WebhooksContext & {
  readonly post: PostWebhook
  readonly memory: WorkerMemory
  readonly slots: Slots
  /** Whether this process may act under its leases. */
  readonly isAlive: () => boolean
  readonly onAttempt: (attempt: {
    delivery: DueDelivery
    ok: boolean
    sentAt: Date
    durationMs: number
  }) => void
}

/** The work at one endpoint under one lease. */
export type EndpointRun = {
  readonly taken: TakenEndpoint
  readonly webhookId: string
  readonly operatorId: string
  /** Of the lease. */
  readonly token: number
  readonly logger: Logger
  readonly view: EndpointView
  /** Attempts under way, by the ids of their deliveries. */
  readonly inFlight: Map<string, DueDelivery>
  readonly held: HeldSlots
  /** What the lease is kept for until it has ended. */
  readonly work: Set<Promise<void>>
  readonly signal: ReturnType<typeof createSignal>
  /** Null until it is known where the endpoint stands. */
  passing: Passing | null
  endNoted: number
  /** Whether it is noted that new events have waited for a second. */
  isLate: boolean
  /** The end of the log when nothing waited any more; null while something waits. */
  lateTo: number | null
  stopped: boolean
  abandoned: boolean
  /** An attempt ended and could not be written: nothing of it is known to be on record. */
  isUnclean: boolean
  turns: Choice['turns']
  probeInFlight: boolean
  /** Attempts that are at the receiver. */
  asking: number
  lastSuccessAt: Date | null
  shutTimer: NodeJS.Timeout | null
  readonly latenessOf: ReturnType<typeof createLateness>
  /** Its end: whether the lease was given back. */
  done: Promise<boolean>
}

/** The work at an endpoint of which it is known where it stands. */
export type PassingRun = EndpointRun & { readonly passing: Passing }

export function newEndpointRun(c: RunContext, taken: TakenEndpoint): EndpointRun {
  const { _id: webhookId, operatorId, leaseToken: token, isLate = false } = taken.endpoint
  const inFlight = new Map<string, DueDelivery>()
  return {
    ...{ taken, webhookId, operatorId, token, isLate, lateTo: null, inFlight },
    ...{
      logger: c.logger.child({ webhook_id: webhookId }),
      view: openEndpointView(c, taken.endpoint, inFlight),
    },
    ...{ held: createHeldSlots(), work: new Set(), signal: createSignal(), passing: null, endNoted: 0 },
    ...{ stopped: false, abandoned: false, isUnclean: false, turns: { all: 0, normal: 0 } },
    ...{ probeInFlight: false, asking: 0, lastSuccessAt: null, shutTimer: null },
    ...{ latenessOf: createLateness(), done: Promise.resolve(false) },
  }
}

export function mayAct(c: RunContext, run: EndpointRun): boolean {
  return !run.abandoned && c.isAlive()
}

/** New deliveries that are kept in memory: fewer at a slow receiver, of which there may be many. */
export function knownMax({ clock }: RunContext, { view, held }: EndpointRun): number {
  return held.heldMs(clock.now()) >= slowMs ? 2 * inFlightMaxOf(view.endpoint()) : fastKnownMax
}

/** The first new delivery that waits. */
export function firstNew({ view, passing }: EndpointRun): DueDelivery | null {
  const [stored] = view.waiting().fresh
  return stored ?? (passing === null ? null : firstWaiting(passing))
}

/** Has the lease kept until this has ended. */
export function follow({ work, signal }: EndpointRun, one: Promise<void>): void {
  work.add(one)
  void one.finally(() => {
    work.delete(one)
    if (work.size === 0) signal.ring()
  })
}

/** Gives the slot of an attempt back, once. */
export function finish({ slots, clock }: RunContext, run: EndpointRun, { due, probe }: Chosen): void {
  if (run.inFlight.get(due._id) !== due) return
  run.inFlight.delete(due._id)
  run.held.gave(due._id, clock.now())
  if (probe) run.probeInFlight = false
  slots.give(run.operatorId)
  run.signal.ring()
}
