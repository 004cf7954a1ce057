import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Logger } from 'pino'
import type { Turns } from '../rules/claim-plan.ts'
import { chooseDue } from '../rules/choose-due.ts'
import { isAtEase } from '../rules/endpoint-health.ts'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import { type DueDelivery, type EndpointDocument, never } from '../storage/documents.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { BodyCache } from '../storage/body-cache.ts'
import { createEndpointView, type FirstLook } from './endpoint-view.ts'
import { attemptWithoutBody } from '../actions/attempt-without-body.ts'
import type { MakeAttempt } from '../actions/make-attempt.ts'
import type { RecoverOrphans } from './recover-orphans.ts'
import type { SettleAttempt } from '../actions/settle-attempt.ts'
import { createSettleInTurn } from '../actions/settle-in-turn.ts'
import { createSignal } from '@pitboss/runtime/signal'
import type { Slots } from './slots.ts'
import type { SuccessNotes } from '../actions/success-notes.ts'
import type { FreshDelivery } from '../clients/wake.ts'

const recheckMs = 5000

export type RunnerDeps = {
  readonly endpoints: EndpointStore
  readonly deliveries: DeliveryStore
  readonly bodies: BodyCache
  readonly makeAttempt: MakeAttempt
  readonly settleAttempt: SettleAttempt
  readonly recoverOrphans: RecoverOrphans
  readonly slots: Slots
  readonly clock: Clock
  readonly logger: Logger
  readonly successes: SuccessNotes
  /** How long an idle endpoint stays with its worker, ready for the next event. */
  readonly lingerMs: () => number
  readonly onAttempt: (attempt: {
    delivery: DueDelivery
    ok: boolean
    sentAt: Date
    durationMs: number
  }) => void
}

export type EndpointRunner = {
  /** Something may have become due, or the endpoint has changed. */
  ring: () => void
  /** These were just made: they need not be looked for when nothing else waits unseen. */
  offer(fresh: readonly FreshDelivery[]): void
  /** Nothing is in flight and nothing is due. */
  idle(): boolean
  /** Rings when more work was made for the endpoint (`wakes`) than has been seen. */
  remind(wakes: number): void
  /** Claims nothing more; `done` resolves when what is in flight has ended. */
  stop(): void
  /** Forgets what is in flight: the process ends, and whoever takes the lease next repeats it. */
  abandon(): void
  readonly done: Promise<void>
}

/** What was read when the lease was taken, and whether something may be in flight under an older one. */
export type LeaseLook = FirstLook & { readonly claimed: boolean }

type Chosen = { readonly due: DueDelivery; readonly probe: boolean }

/** Delivers to one endpoint for as long as there is something to deliver, under the lease of `leased`. */
export function runEndpoint(deps: RunnerDeps, leased: EndpointDocument, first: LeaseLook): EndpointRunner {
  const { endpoints, deliveries, slots, clock } = deps
  const { _id: webhookId, operatorId, leaseToken: token } = leased
  const logger = deps.logger.child({ webhook_id: webhookId })
  const signal = createSignal()
  const inFlight = new Map<string, DueDelivery>()
  const work = new Set<Promise<void>>()
  const view = createEndpointView({
    endpoints,
    deliveries,
    clock,
    logger,
    leased,
    firstLook: first,
    inFlight,
  })
  let stopped = false
  let abandoned = false
  let turns: Turns = { all: 0, normal: 0 }
  let probeInFlight = false
  let lastSuccessAt: Date | null = null
  let idle = false
  const settleInTurn = createSettleInTurn({
    settleAttempt: deps.settleAttempt,
    view,
    logger,
    lastSuccessAt: () => lastSuccessAt,
  })

  /** @returns true when the lease is given back already. */
  async function run(): Promise<boolean> {
    if (first.claimed) {
      const orphans = await deps.recoverOrphans(webhookId, token)
      if (orphans > 0) logger.warn({ deliveries: orphans }, 'deliveries.recovered')
      view.lookAgain()
    }
    while (!stopped) {
      idle = false
      if (!(await view.refresh())) return true
      const { nextAt, starved } = await claimDue()
      // With something in flight its end rings anyway; a free slot is for those who have none.
      if (starved && inFlight.size === 0) slots.await(signal.ring)
      const untilNextMs = nextAt === null ? recheckMs : Math.max(0, nextAt.getTime() - clock.now().getTime())
      const lingerMs = deps.lingerMs()
      idle = inFlight.size === 0 && work.size === 0 && !starved
      const rung = await signal.wait(
        idle
          ? Math.min(lingerMs, nextAt === null ? lingerMs : untilNextMs)
          : Math.min(recheckMs, untilNextMs),
      )
      if (!idle || rung || (nextAt !== null && untilNextMs <= lingerMs)) continue
      await deps.successes.flush()
      if (await endpoints.release(webhookId, { token, wakes: view.wakesSeen(), dueAt: nextAt ?? never }))
        return true
      view.lookAgain()
    }
    return false
  }

  async function claimDue(): Promise<{ nextAt: Date | null; starved: boolean }> {
    const endpoint = view.endpoint()
    if (endpoint.deletedAt !== null) return { nextAt: null, starved: false }
    const now = clock.now()
    const { chosen, nextAt } = await choose(endpoint, now)
    const granted = slots.take(operatorId, chosen.length, inFlight.size)
    await start(endpoint, chosen.slice(0, granted), now)
    return { nextAt, starved: granted < chosen.length }
  }

  /** What may be claimed now, and when there will be more. */
  async function choose(
    endpoint: EndpointDocument,
    now: Date,
  ): Promise<{ chosen: Chosen[]; nextAt: Date | null }> {
    const flying = [...inFlight.values()]
    const choice = chooseDue({
      health: endpoint.health,
      waiting: view.waiting(),
      inFlight: flying.length,
      replayInFlight: flying.filter(({ lane }) => lane === 'replay').length,
      probeInFlight,
      turns,
      now,
    })
    turns = choice.turns
    const chosen = choice.chosen.map((due) => ({ due, probe: false }))
    const probe = choice.probe ? await deliveries.oldestDue(webhookId, now) : null
    return {
      chosen: probe === null ? chosen : [{ due: probe, probe: true }, ...chosen],
      nextAt: choice.nextAt,
    }
  }

  /** Claims each and sends it; a slot whose delivery was gone is given back. */
  async function start(endpoint: EndpointDocument, taken: readonly Chosen[], now: Date): Promise<void> {
    if (taken.length === 0) return
    view.remove(new Set(taken.map(({ due }) => due._id)))
    for (const { due } of taken) inFlight.set(due._id, due)
    if (taken.some(({ probe }) => probe)) probeInFlight = true
    try {
      const real = taken.filter(({ due }) => due.eventType !== 'webhook.test')
      const [bodies, claimed] = await Promise.all([
        deps.bodies.of(real.map(({ due }) => due.eventId)),
        deliveries.claim(
          taken.map(({ due }) => due),
          token,
          now,
        ),
      ])
      const byId = new Map(claimed.map((delivery) => [delivery._id, delivery]))
      for (const one of taken) {
        const delivery = byId.get(one.due._id)
        if (delivery === undefined) {
          view.lookAgain()
          finish(one)
          continue
        }
        const body = delivery.testBody ?? bodies.get(delivery.eventId) ?? null
        const sending = send(endpoint, delivery, body, one)
        work.add(sending)
        void sending.finally(() => {
          work.delete(sending)
          if (work.size === 0) signal.ring()
        })
      }
    } catch (err) {
      // Which of them are claimed is unknown; the next holder of the lease recovers those.
      for (const one of taken) finish(one)
      throw err
    }
  }

  async function send(
    endpoint: EndpointDocument,
    delivery: DueDelivery,
    body: string | null,
    chosen: Chosen,
  ): Promise<void> {
    try {
      await failpoint('webhooks.claimed')
      const outcome =
        body === null
          ? attemptWithoutBody({ clock, logger }, delivery)
          : await deps.makeAttempt(endpoint, delivery, body)
      if (abandoned) return
      await failpoint('webhooks.posted')
      // A success that changes nothing else gives its slot away while it is written: the next one is sent when both are.
      const early = outcome.ok && isAtEase(view.endpoint().health)
      const onWriting = () => {
        if (early) finish(chosen)
      }
      const settled = await settleInTurn({ delivery, outcome, probe: chosen.probe, onWriting })
      await failpoint('webhooks.settled')
      if (settled.status !== 'DELIVERED' || settled.endpoint !== null) view.lookAgain()
      const { sentAt, durationMs } = outcome.record
      if (outcome.ok && delivery.eventType !== 'webhook.test') {
        lastSuccessAt = outcome.at
        deps.successes.note(webhookId, outcome.at)
      }
      deps.onAttempt({ delivery, ok: outcome.ok, sentAt, durationMs: durationMs ?? 0 })
      logger.info(
        {
          delivery_id: delivery._id,
          event_id: delivery.eventId,
          attempt: delivery.attemptCount,
          http_status: outcome.record.httpStatus,
          error: outcome.record.error,
          duration_ms: durationMs,
          status: settled.status,
          written: settled.written,
        },
        'delivery.attempted',
      )
    } catch (err) {
      logger.error({ err, delivery_id: delivery._id }, 'delivery.interrupted')
      // The claim stands under this token. Whoever takes the lease next, this worker too, gets a newer one and recovers it.
      stopped = true
    } finally {
      finish(chosen)
    }
  }

  /** Gives the slot back, once. */
  function finish({ due, probe }: Chosen): void {
    if (inFlight.get(due._id) !== due) return
    inFlight.delete(due._id)
    if (probe) probeInFlight = false
    slots.give(operatorId)
    signal.ring()
  }

  async function wholeLife(): Promise<void> {
    const released = await run().catch((err: unknown) => {
      logger.error({ err }, 'endpoint.interrupted')
      return false
    })
    await Promise.all(work)
    if (released) return
    await endpoints
      .abandon(webhookId, token)
      .catch((err: unknown) => logger.warn({ err }, 'endpoint.not-abandoned'))
  }

  return {
    ring() {
      view.lookAgain()
      signal.ring()
    },
    offer(fresh) {
      view.offer(fresh)
      signal.ring()
    },
    idle: () => idle,
    remind(wakes) {
      if (!idle || !view.hasUnseen(wakes)) return
      view.lookAgain()
      signal.ring()
    },
    stop() {
      stopped = true
      signal.ring()
    },
    abandon() {
      abandoned = true
    },
    done: wholeLife(),
  }
}
