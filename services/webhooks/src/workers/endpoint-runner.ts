import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Logger } from 'pino'
import { lanes, type Turns } from '../domain/claim-plan.ts'
import { chooseDue } from '../domain/choose-due.ts'
import { inFlightMax, isAtEase } from '../domain/endpoint-health.ts'
import type { DueDelivery, Upcoming } from '../storage/delivery-queue.ts'
import type { DeliveryStore } from '../storage/delivery-store.ts'
import { type DeliveryDocument, type EndpointDocument, never } from '../storage/documents.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'
import type { BodyCache } from '../storage/body-cache.ts'
import type { MakeAttempt } from './make-attempt.ts'
import type { SettleAttempt, Settled } from './settle-attempt.ts'
import { createSignal } from './signal.ts'
import type { Slots } from './slots.ts'

/** How long an idle endpoint stays with its worker, ready for the next event. */
const lingerMs = 1000
const recheckMs = 5000
/** A wake-up can get lost; what the endpoint and its deliveries have become is looked at this often anyway. */
const lookEveryMs = 500
const noteSuccessEveryMs = 1000
const settleTriesMax = 6
const settleRetryMs = 100

export type RunnerDeps = {
  readonly endpoints: EndpointStore
  readonly deliveries: DeliveryStore
  readonly bodies: BodyCache
  readonly makeAttempt: MakeAttempt
  readonly settleAttempt: SettleAttempt
  readonly slots: Slots
  readonly clock: Clock
  readonly logger: Logger
  readonly onAttempt: (attempt: {
    delivery: DeliveryDocument
    ok: boolean
    sentAt: Date
    durationMs: number
  }) => void
}

export type EndpointRunner = {
  /** Something may have become due, or the endpoint has changed. */
  ring: () => void
  /** Claims nothing more; `done` resolves when what is in flight has ended. */
  stop(): void
  /** Forgets what is in flight: the process ends, and whoever takes the lease next repeats it. */
  abandon(): void
  readonly done: Promise<void>
}

type Attempt = Parameters<SettleAttempt>[0]
type Chosen = { readonly due: DueDelivery; readonly probe: boolean }

/** Delivers to one endpoint for as long as there is something to deliver, under the lease of `leased`. */
export function runEndpoint(deps: RunnerDeps, leased: EndpointDocument): EndpointRunner {
  const { endpoints, deliveries, slots, clock } = deps
  const { _id: webhookId, operatorId, leaseToken: token } = leased
  const logger = deps.logger.child({ webhook_id: webhookId })
  const signal = createSignal()
  const inFlight = new Map<string, DueDelivery>()
  const work = new Set<Promise<void>>()
  let current = leased
  let stopped = false
  let abandoned = false
  let turns: Turns = { all: 0, normal: 0 }
  let probeInFlight = false
  let lastSuccessAt: Date | null = null
  let successNotedAtMs = 0
  let upcoming: Upcoming = { lanes: { fresh: [], retry: [], replay: [], manual: [] }, complete: true }
  let lookAgain = true
  let lookedAtMs = 0
  let wakesSeen = leased.wakes
  let heldAtVersion: number | null = null
  let healthTurn: Promise<unknown> = Promise.resolve()

  /** @returns true when the lease is given back already. */
  async function run(): Promise<boolean> {
    const orphans = await deliveries.recoverOrphans(webhookId, token, clock.now())
    if (orphans > 0) logger.warn({ deliveries: orphans }, 'deliveries.recovered')
    while (!stopped) {
      if (viewIsStale() && !(await look())) return true
      const { nextAt, starved } = await claimDue()
      // With something in flight its end rings anyway; a free slot is for those who have none.
      if (starved && inFlight.size === 0) slots.await(signal.ring)
      const untilNextMs = nextAt === null ? recheckMs : Math.max(0, nextAt.getTime() - clock.now().getTime())
      const idle = inFlight.size === 0 && !starved
      const rung = await signal.wait(Math.min(idle ? lingerMs : recheckMs, untilNextMs))
      await noteSuccess(false)
      if (!idle || rung || untilNextMs <= lingerMs) continue
      await noteSuccess(true)
      if (await endpoints.release(webhookId, { token, wakes: wakesSeen, dueAt: nextAt ?? never })) return true
      lookAgain = true
    }
    return false
  }

  function viewIsStale(): boolean {
    if (lookAgain || performance.now() - lookedAtMs > lookEveryMs) return true
    const now = clock.now()
    const left = Object.values(upcoming.lanes).flat()
    return !upcoming.complete && left.filter(({ dueAt }) => dueAt <= now).length < inFlightMax
  }

  /** Reads the endpoint and what waits for it. @returns false when the lease is lost. */
  async function look(): Promise<boolean> {
    lookAgain = false
    lookedAtMs = performance.now()
    const endpoint = await endpoints.read(webhookId)
    if (endpoint === null || endpoint.leaseToken !== token) {
      logger.warn('endpoint.lease-lost')
      return false
    }
    wakesSeen = endpoint.wakes
    const changed = heldAtVersion !== endpoint.version
    if (endpoint.version >= current.version) current = endpoint
    await settleHeld(endpoint, changed)
    heldAtVersion = endpoint.version
    upcoming = await deliveries.upcoming(webhookId)
    return true
  }

  /** Keeps pause and deliveries in step, also after a death between a change of the endpoint and of its deliveries. */
  async function settleHeld(endpoint: EndpointDocument, changed: boolean): Promise<void> {
    if (endpoint.deletedAt !== null) return deliveries.cancelAll(webhookId)
    if (endpoint.health.status === 'PAUSED') {
      await deliveries.hold(webhookId)
    } else if (changed && (await deliveries.hasHeld(webhookId))) {
      const { heldRule } = endpoint
      await deliveries.release(webhookId, heldRule?.action === 'skip' ? heldRule.at : null, clock.now())
    }
  }

  async function claimDue(): Promise<{ nextAt: Date | null; starved: boolean }> {
    if (current.deletedAt !== null) return { nextAt: null, starved: false }
    const now = clock.now()
    const { chosen, nextAt } = await choose(now)
    const granted = slots.take(operatorId, chosen.length, inFlight.size)
    await start(current, chosen.slice(0, granted), now)
    return { nextAt, starved: granted < chosen.length }
  }

  /** What may be claimed now, and when there will be more. */
  async function choose(now: Date): Promise<{ chosen: Chosen[]; nextAt: Date | null }> {
    const flying = [...inFlight.values()]
    const choice = chooseDue({
      health: current.health,
      waiting: upcoming.lanes,
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
    const ids = new Set(taken.map(({ due }) => due._id))
    for (const lane of lanes) {
      upcoming.lanes[lane] = upcoming.lanes[lane].filter(({ _id }) => !ids.has(_id))
    }
    for (const { due } of taken) inFlight.set(due._id, due)
    if (taken.some(({ probe }) => probe)) probeInFlight = true
    try {
      const real = taken.filter(({ due }) => due.eventType !== 'webhook.test')
      const [bodies, claimed] = await Promise.all([
        deps.bodies.of(real.map(({ due }) => due.eventId)),
        deliveries.claim([...ids], token, now),
      ])
      const byId = new Map(claimed.map((delivery) => [delivery._id, delivery]))
      for (const one of taken) {
        const delivery = byId.get(one.due._id)
        if (delivery === undefined) {
          lookAgain = true
          finish(one)
          continue
        }
        const body = delivery.testBody ?? bodies.get(delivery.eventId) ?? null
        const sending = send(endpoint, delivery, body, one)
        work.add(sending)
        void sending.finally(() => work.delete(sending))
      }
    } catch (err) {
      // Which of them are claimed is unknown; the next holder of the lease recovers those.
      for (const one of taken) finish(one)
      throw err
    }
  }

  async function send(
    endpoint: EndpointDocument,
    delivery: DeliveryDocument,
    body: string | null,
    chosen: Chosen,
  ): Promise<void> {
    try {
      await failpoint('webhooks.claimed')
      if (body === null) return await failWithoutBody(delivery)
      const outcome = await deps.makeAttempt(endpoint, delivery, body)
      if (abandoned) return
      await failpoint('webhooks.posted')
      const settled = await settleInTurn({ delivery, outcome, probe: chosen.probe })
      await failpoint('webhooks.settled')
      if (settled.status !== 'DELIVERED' || settled.endpoint !== null) lookAgain = true
      const { sentAt, durationMs } = outcome.record
      if (outcome.ok && delivery.eventType !== 'webhook.test') lastSuccessAt = outcome.at
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

  /** Only a database restored to an earlier day can lack an event that it has a delivery of. */
  async function failWithoutBody(delivery: DeliveryDocument): Promise<void> {
    logger.error({ delivery_id: delivery._id, event_id: delivery.eventId }, 'delivery.without-event')
    const attempt = {
      attempt: delivery.attemptCount,
      sentAt: clock.now(),
      durationMs: null,
      httpStatus: null,
      error: 'the event is not in the log any more',
      responseExcerpt: null,
      timings: null,
      hint: null,
    }
    await deliveries.complete(delivery, { status: 'FAILED', dueAt: never, nextAttemptAt: null }, attempt)
  }

  /** Results that change the endpoint's health are settled one after another: they would only lose to each other. */
  async function settleInTurn(result: Pick<Attempt, 'delivery' | 'outcome' | 'probe'>): Promise<Settled> {
    const settle = async () => {
      const settled = await settleStubbornly(() => ({
        ...result,
        atEase: isAtEase(current.health),
        lastSuccessAt,
      }))
      if (settled.endpoint !== null) current = settled.endpoint
      return settled
    }
    if (result.outcome.ok && isAtEase(current.health)) return settle()
    const settled = healthTurn.then(settle)
    healthTurn = settled.catch(() => undefined)
    return settled
  }

  /** The receiver has been asked; a database that is away for a moment must not make us ask again. */
  async function settleStubbornly(attempt: () => Attempt): Promise<Settled> {
    for (let tried = 1; ; tried++) {
      try {
        return await deps.settleAttempt(attempt())
      } catch (err) {
        if (tried >= settleTriesMax) throw err
        logger.warn({ err, delivery_id: attempt().delivery._id }, 'delivery.not-settled')
        await createSignal().wait(settleRetryMs * 2 ** tried)
      }
    }
  }

  function finish({ due, probe }: Chosen): void {
    inFlight.delete(due._id)
    if (probe) probeInFlight = false
    slots.give(operatorId)
    signal.ring()
  }

  async function noteSuccess(force: boolean): Promise<void> {
    if (lastSuccessAt === null) return
    const notedMs = lastSuccessAt.getTime()
    if (notedMs <= successNotedAtMs || (!force && notedMs - successNotedAtMs < noteSuccessEveryMs)) return
    await endpoints.noteSuccess(webhookId, lastSuccessAt)
    successNotedAtMs = notedMs
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
      lookAgain = true
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
