import type { Scope } from '@pitboss/contracts/caller'
import { createSignal } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { PostWebhook } from '../clients/post-webhook.ts'
import type { WebhooksContext } from '../context.ts'
import type { Turns } from '../rules/choose-due.ts'
import { inFlightMaxOf } from '../rules/endpoint-health.ts'
import { createLateness } from '../rules/lateness.ts'
import type { Passage } from '../rules/passage.ts'
import { type DeliveryDocument, type DueDelivery, scopeFields } from '../storage/collections.ts'
import type { TakenEndpoint } from '../storage/endpoint-store.ts'
import type { LoggedEvent } from '../storage/event-log.ts'
import type { AcceptedDelivery } from '../storage/range-store.ts'
import type { HealthChanges } from './change-health.ts'
import { type EndpointView, openEndpointView } from './endpoint-view.ts'
import { createHeldSlots, type HeldSlots } from './held-slots.ts'
import type { Slots } from './slots.ts'

/** A receiver that takes as long is slow. Source: ours. */
const slowMs = 1000
const fastKnownMax = 256

export type RunContext = WebhooksContext & {
  readonly post: PostWebhook
  readonly memory: {
    readonly healthChanges: HealthChanges
    /** Times of the last success of endpoints, which are yet to be written. */
    readonly successes: Map<string, Date>
  }
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

/** A delivery to be sent. @param probe the open breaker lets it through */
export type Chosen = { readonly due: DueDelivery; readonly probe: boolean }

export type Storing = {
  document: DeliveryDocument
  readonly seq: number
  isWriting: boolean
  readonly end: PromiseWithResolvers<void>
}

/**
 * The work at one endpoint under one lease. A new delivery that is accepted at once becomes an item of the
 * next range; every other one is a document of its own, stored before the range that passes its event.
 */
export type EndpointRun = {
  readonly taken: TakenEndpoint
  readonly webhookId: string
  readonly scope: Scope
  /** Of the lease. */
  readonly token: number
  readonly logger: Logger
  /** The endpoint, and its stored deliveries that wait. */
  readonly view: EndpointView
  /** How far it has passed the log. */
  readonly passage: Passage<AcceptedDelivery>
  /** New deliveries that wait, in the order of the log, by their ids. */
  readonly fresh: Map<string, { readonly event: LoggedEvent; readonly due: DueDelivery }>
  /** Those with their first attempt under way, which began at `atMs` on the steady clock. */
  readonly sent: Map<
    string,
    { readonly event: LoggedEvent; readonly claimed: DueDelivery; readonly atMs: number }
  >
  readonly storing: Map<string, Storing>
  /** Accepted deliveries whose range does not stand yet, by the numbers of their events. */
  readonly accepted: Map<number, PromiseWithResolvers<boolean>>
  /** The number to which the log has come, as far as is known. */
  endNoted: number
  settling: Promise<void> | null
  /** Has what came to an end stored at once. */
  readonly hurry: ReturnType<typeof createSignal>
  /** Attempts under way, by the ids of their deliveries. */
  readonly inFlight: Map<string, DueDelivery>
  readonly held: HeldSlots
  /** What the lease is kept for until it has ended. */
  readonly work: Set<Promise<void>>
  readonly signal: ReturnType<typeof createSignal>
  /** Whether it is noted that new events have waited for a second. */
  isLate: boolean
  /** The end of the log when nothing waited any more; null while something waits. */
  lateTo: number | null
  stopped: boolean
  abandoned: boolean
  /** Whether another worker passes the log, or this one may not write any more. */
  isLost: boolean
  /** An attempt ended and could not be written: nothing of it is known to be on record. */
  isUnclean: boolean
  turns: Turns
  probeInFlight: boolean
  /** Attempts that are at the receiver. */
  asking: number
  lastSuccessAt: Date | null
  shutTimer: NodeJS.Timeout | null
  readonly latenessOf: ReturnType<typeof createLateness>
  /** Its end: whether the lease was given back. */
  done: Promise<boolean>
}

export function newEndpointRun(c: RunContext, taken: TakenEndpoint): EndpointRun {
  const { endpoint } = taken
  const { _id: webhookId, leaseToken: token, isLate = false } = endpoint
  const logger = c.logger.child({ webhook_id: webhookId })
  const inFlight = new Map<string, DueDelivery>()
  return {
    ...{ taken, webhookId, scope: scopeFields(endpoint), token, logger, isLate, lateTo: null, inFlight },
    ...{ view: openEndpointView(c, logger, endpoint, inFlight), passage: { cursor: 0, known: [] } },
    ...{ fresh: new Map(), sent: new Map(), storing: new Map(), accepted: new Map(), endNoted: 0 },
    ...{ settling: null, hurry: createSignal(), held: createHeldSlots(), work: new Set() },
    ...{ signal: createSignal(), stopped: false, abandoned: false, isLost: false, isUnclean: false },
    ...{ turns: { all: 0, normal: 0 }, probeInFlight: false, asking: 0, lastSuccessAt: null },
    ...{ shutTimer: null, latenessOf: createLateness(), done: Promise.resolve(false) },
  }
}

export function mayAct(c: RunContext, run: EndpointRun): boolean {
  return !run.abandoned && c.isAlive()
}

/** New deliveries that are kept in memory: fewer at a slow receiver, of which there may be many. */
export function knownMax({ clock }: RunContext, { view, held }: EndpointRun): number {
  return held.heldMs(clock.now()) >= slowMs ? 2 * inFlightMaxOf(view.endpoint()) : fastKnownMax
}

/** The first new delivery that waits in the log; null for none. */
export function firstFresh({ fresh }: EndpointRun): DueDelivery | null {
  const [first] = fresh.values()
  return first?.due ?? null
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
  slots.give(run.scope.operatorId)
  run.signal.ring()
}
