import { failpoint } from '@pitboss/runtime/failpoint'
import { partition } from '@pitboss/runtime/partition'
import { chooseDue } from '../rules/choose-due.ts'
import { inFlightMaxOf, nextProbe } from '../rules/endpoint-health.ts'
import { isUnsubscribed } from '../rules/subscription.ts'
import type { DueDelivery } from '../storage/collections.ts'
import { type Chosen, type EndpointRun, finish, follow, mayAct, type RunContext } from './endpoint-run.ts'
import { makeAttempt } from './make-attempt.ts'
import { sendable, sendFresh } from './pass-events.ts'
import { settleAttempt } from './settle-attempt.ts'

/** Sends what is due. @returns when more will be, null for not by the clock; and whether places lacked */
export async function sendDue(c: RunContext, run: EndpointRun) {
  const { view, inFlight, holdTimes } = run
  if (view.endpoint().deletedAt !== null) return { nextAt: null, starved: false }
  const now = c.clock.now()
  const { wanted, nextAt } = await choose(c, run, now)
  // One that has just been written as waiting may still have its place: it is chosen again without it.
  const chosen = wanted.filter(({ due }) => !inFlight.has(due._id))
  const endpoint = { inFlight: inFlight.size, scarceMax: holdTimes.scarceMax(now) }
  const granted = c.slots.take(run.scope.operatorId, chosen.length, endpoint)
  await start(c, run, chosen.slice(0, granted))
  return { nextAt, starved: granted < chosen.length }
}

/** Chooses what may be sent now. What is of types that the endpoint has unsubscribed is cancelled instead. */
async function choose(c: RunContext, run: EndpointRun, now: Date) {
  const { webhookId, view, inFlight, probeInFlight, turns } = run
  const endpoint = view.endpoint()
  const { health } = endpoint
  const inFlightMax = inFlightMaxOf(endpoint)
  const stored = view.waiting()
  const choice = chooseDue({
    ...{ health, inFlightMax, inFlight: inFlight.size, probeInFlight, turns, now },
    replayInFlight: [...inFlight.values()].filter(({ lane }) => lane === 'replay').length,
    waiting: { ...stored, fresh: [...stored.fresh, ...sendable(run, inFlightMax)] },
  })
  run.turns = choice.turns
  const chosen = choice.chosen.map((due) => ({ due, probe: false }))
  const probe = choice.probe ? await c.deliveries.probe(webhookId, nextProbe(health), now) : null
  if (probe !== null) chosen.unshift({ due: probe, probe: true })
  const [unsubscribed, wanted] = partition(chosen, ({ due }) => isUnsubscribed(endpoint, due))
  if (unsubscribed.length > 0) {
    const ids = unsubscribed.map(({ due }) => due._id)
    await c.deliveries.cancelWaiting(webhookId, ids)
    view.remove(new Set(ids))
    // They had the places of others.
    run.signal.ring()
  }
  return { wanted, nextAt: choice.nextAt }
}

/** Begins attempts; the slot of one that could not be claimed is given back. */
async function start(c: RunContext, run: EndpointRun, chosen: readonly Chosen[]): Promise<void> {
  if (chosen.length === 0) return
  const now = c.clock.now()
  for (const { due, probe } of chosen) {
    run.inFlight.set(due._id, due)
    run.holdTimes.acquired(due._id, now)
    if (probe) run.probeInFlight = true
  }
  const [fresh, stored] = partition(chosen, ({ due }) => run.fresh.has(due._id))
  for (const one of fresh) {
    const sent = mayAct(c, run) ? sendFresh(run, one.due._id, now) : null
    if (sent === null) finish(c, run, one)
    else follow(run, send(c, run, one, sent.delivery, sent.body))
  }
  if (stored.length > 0) await startStored(c, run, stored, now)
}

/** Claims stored deliveries, each with its next attempt number, and begins their attempts. */
async function startStored(c: RunContext, run: EndpointRun, chosen: readonly Chosen[], now: Date) {
  const dues = chosen.map(({ due }) => due)
  run.view.remove(new Set(dues.map(({ _id }) => _id)))
  const eventIds = dues.flatMap(({ eventType, eventId }) => (eventType === 'webhook.test' ? [] : [eventId]))
  try {
    const [bodies, claimed] = await Promise.all([
      c.events.bodies(run.scope, eventIds),
      c.deliveries.claim(dues, run.token, now),
    ])
    const byId = new Map(claimed.map((delivery) => [delivery._id, delivery]))
    for (const one of chosen) {
      const delivery = byId.get(one.due._id)
      if (delivery === undefined) {
        // Somebody else changed it since it was read.
        run.view.markStale()
        finish(c, run, one)
      } else {
        const body = delivery.testBody ?? bodies.get(delivery.eventId) ?? null
        follow(run, send(c, run, one, delivery, body))
      }
    }
  } catch (err) {
    // Any of them may be claimed; the next holder of the lease recovers those.
    for (const one of chosen) finish(c, run, one)
    throw err
  }
}

/** @param body null when the event log lacks the event */
async function send(c: RunContext, run: EndpointRun, one: Chosen, claimed: DueDelivery, body: string | null) {
  const isFresh = run.sent.has(claimed._id)
  const endpoint = run.view.endpoint()
  try {
    await failpoint('webhooks.claimed')
    run.asking += 1
    const outcome = await makeAttempt(c, endpoint, claimed, body).finally(() => {
      run.asking -= 1
    })
    if (run.abandoned) return
    await failpoint('webhooks.posted')
    await settleAttempt(c, run, { delivery: claimed, outcome, chosen: one, isFresh })
  } catch (err) {
    run.logger.error({ err, delivery_id: claimed._id }, 'delivery.interrupted')
    // Its outcome is not on record. The next lease, also one of this worker, counts it as interrupted.
    run.isUnclean = true
    run.stopped = true
  } finally {
    finish(c, run, one)
  }
}
