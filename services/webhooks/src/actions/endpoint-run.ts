import { type Scope, scopeOf } from '@pitboss/contracts/caller'
import { createSignal } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { PostWebhook } from '../clients/post-webhook.ts'
import type { WebhooksContext } from '../context.ts'
import type { Turns } from '../rules/choose-due.ts'
import { inFlightMaxOf } from '../rules/endpoint-health.ts'
import { createLateness } from '../rules/lateness.ts'
import type { Passage } from '../rules/passage.ts'
import type { DueDelivery, LoggedEvent } from '../storage/collections.ts'
import type { TakenEndpoint } from '../storage/endpoint-store.ts'
import type { AcceptedDelivery } from '../storage/range-store.ts'
import type { HealthChanges } from './settle-attempt.ts'
import { type EndpointView, openEndpointView } from './endpoint-view.ts'
import { createSlotHoldTimes, type Slots } from './slots.ts'
import type { Storing } from './store-passing.ts'

/** A receiver that takes as long is slow. Source: ours. */
const slowMs = 1000
const fastKnownMax = 256

export type RunContext = WebhooksContext & {
  readonly post: PostWebhook
  readonly memory: {
    readonly healthChanges: HealthChanges
    /** Times of last successes, which are yet to be written. */
    readonly successes: Map<string, Date>
  }
  readonly slots: Slots
  /** Whether this process may act under its leases. */
  readonly isAlive: () => boolean
  readonly onAttempt: (
    delivery: DueDelivery,
    attempt: { ok: boolean; sentAt: Date; durationMs: number },
  ) => void
}

/** A delivery to be sent. @param probe the open breaker lets it through */
export type Chosen = { readonly due: DueDelivery; readonly probe: boolean }

/** The work at one endpoint under one lease. What is not accepted at once is stored before its range. */
export class EndpointRun {
  readonly taken: TakenEndpoint
  readonly webhookId: string
  readonly scope: Scope
  readonly token: number
  readonly logger: Logger
  readonly inFlight = new Map<string, DueDelivery>()
  readonly view: EndpointView
  readonly passage: Passage<AcceptedDelivery> = { cursor: 0, known: [] }
  /** New deliveries that wait, in the order of the log, by their ids. */
  readonly fresh = new Map<string, { readonly event: LoggedEvent; readonly due: DueDelivery }>()
  /** Those with their first attempt under way, which began at `atMs` on the steady clock. */
  readonly sent = new Map<string, { event: LoggedEvent; claimed: DueDelivery; atMs: number }>()
  readonly storing = new Map<string, Storing>()
  /** Accepted deliveries whose range does not stand yet, by the numbers of their events. */
  readonly accepted = new Map<number, PromiseWithResolvers<boolean>>()
  endNoted = 0
  settling: Promise<void> | null = null
  /** Makes what came to an end stored at once. */
  readonly hurry = createSignal()
  readonly holdTimes = createSlotHoldTimes()
  /** The lease is retained until all of this has ended. */
  readonly work = new Set<Promise<void>>()
  readonly signal = createSignal()
  /** Whether it is noted that new events have waited for a second. */
  isLate: boolean
  /** The end of the log when nothing waited any more; null while something waits. */
  lateTo: number | null = null
  stopped = false
  abandoned = false
  /** Whether another worker passes the log, or this one may not write any more. */
  isLost = false
  /** An attempt ended and could not be written: nothing of it is known to be on record. */
  isUnclean = false
  turns: Turns = { all: 0, normal: 0 }
  probeInFlight = false
  /** Attempts that are at the receiver. */
  asking = 0
  lastSuccessAt: Date | null = null
  shutTimer: NodeJS.Timeout | null = null
  readonly latenessOf = createLateness()
  /** Its end: whether the lease was given back. */
  done = Promise.resolve(false)

  constructor(c: RunContext, taken: TakenEndpoint) {
    const { endpoint } = taken
    this.taken = taken
    this.webhookId = endpoint._id
    this.scope = scopeOf(endpoint)
    this.token = endpoint.leaseToken
    this.logger = c.logger.child({ webhook_id: endpoint._id })
    this.view = openEndpointView(c, this, endpoint)
    this.isLate = endpoint.isLate ?? false
  }
}

export const mayAct = (c: RunContext, run: EndpointRun) => !run.abandoned && c.isAlive()

/** New deliveries that are held in memory: fewer for slow receivers, since there may be many of them. */
export function knownMax({ clock }: RunContext, { view, holdTimes }: EndpointRun): number {
  return holdTimes.heldMs(clock.now()) >= slowMs ? 2 * inFlightMaxOf(view.endpoint()) : fastKnownMax
}

export const firstFresh = ({ fresh }: EndpointRun) => fresh.values().next().value?.due ?? null

/** Retains the lease until this has ended. */
export function follow({ work, signal }: EndpointRun, one: Promise<void>): void {
  work.add(one)
  void one.finally(() => {
    work.delete(one)
    if (work.size === 0) signal.ring()
  })
}

export function finish({ slots, clock }: RunContext, run: EndpointRun, { due, probe }: Chosen): void {
  if (run.inFlight.get(due._id) !== due) return
  run.inFlight.delete(due._id)
  run.holdTimes.released(due._id, clock.now())
  if (probe) run.probeInFlight = false
  slots.give(run.scope.operatorId)
  run.signal.ring()
}
