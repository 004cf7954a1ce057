import { failpoint } from '@pitboss/runtime/failpoint'
import { partition } from '@pitboss/runtime/partition'
import { inFlightMaxOf } from '../rules/endpoint-health.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'
import { chooseDeliveries, type Chosen, claimDeliveries, type Claimed } from './claim-deliveries.ts'
import { finish, follow, mayAct, type PassingRun, type RunContext } from './endpoint-run.ts'
import { makeAttempt } from './make-attempt.ts'
import { sendable, sendFresh } from './pass-events.ts'
import { settleAttempt } from './settle-attempt.ts'

/**
 * Sends what is due, as far as places are free.
 * @returns when there will be more, and whether places were lacking
 */
export async function sendDue(
  c: RunContext,
  run: PassingRun,
): Promise<{ nextAt: Date | null; starved: boolean }> {
  const { webhookId, view, inFlight, held, passing } = run
  const endpoint = view.endpoint()
  const now = c.clock.now()
  const stored = view.waiting()
  const choice = await chooseDeliveries(c, endpoint, {
    ...{ probeInFlight: run.probeInFlight, turns: run.turns, now, inFlight: [...inFlight.values()] },
    waiting: { ...stored, fresh: [...stored.fresh, ...sendable(passing, inFlightMaxOf(endpoint))] },
  })
  run.turns = choice.turns
  if (choice.unsubscribed.length > 0) {
    const ids = choice.unsubscribed.map(({ _id }) => _id)
    await c.deliveries.cancelWaiting(webhookId, ids)
    view.remove(new Set(ids))
    // They had the places of others.
    run.signal.ring()
  }
  // One that has just been written as waiting may still have its place: it is chosen again without it.
  const chosen = choice.chosen.filter(({ due }) => !inFlight.has(due._id))
  const holds = { inFlight: inFlight.size, scarceMax: held.scarceMax(now) }
  const granted = c.slots.take(run.operatorId, chosen.length, holds)
  await start(c, run, endpoint, chosen.slice(0, granted))
  return { nextAt: choice.nextAt, starved: granted < chosen.length }
}

/** Begins attempts; the slot of one that could not be claimed is given back. */
async function start(
  c: RunContext,
  run: PassingRun,
  endpoint: EndpointDocument,
  chosen: readonly Chosen[],
): Promise<void> {
  if (chosen.length === 0) return
  const now = c.clock.now()
  for (const { due, probe } of chosen) {
    run.inFlight.set(due._id, due)
    run.held.took(due._id, now)
    if (probe) run.probeInFlight = true
  }
  const [fresh, stored] = partition(chosen, ({ due }) => run.passing.fresh.has(due._id))
  const begin = (delivery: DueDelivery, claimed: Claimed) =>
    follow(run, send(c, run, endpoint, delivery, claimed))
  for (const one of fresh) {
    const sent = mayAct(c, run) ? sendFresh(run.passing, one.due._id, now) : null
    if (sent === null) finish(c, run, one)
    else begin(sent.claimed, { chosen: one, delivery: sent.claimed, body: sent.body })
  }
  if (stored.length === 0) return
  run.view.remove(new Set(stored.map(({ due }) => due._id)))
  try {
    for (const one of await claimDeliveries(c, endpoint, stored, run.token, now)) {
      if (one.delivery !== null) begin(one.delivery, one)
      else {
        run.view.markStale()
        finish(c, run, one.chosen)
      }
    }
  } catch (err) {
    // Any of them may be claimed; the next holder of the lease recovers those.
    for (const one of stored) finish(c, run, one)
    throw err
  }
}

/** Makes an attempt and writes its outcome. */
async function send(
  c: RunContext,
  run: PassingRun,
  endpoint: EndpointDocument,
  delivery: DueDelivery,
  { body, chosen }: Claimed,
): Promise<void> {
  const isFresh = run.passing.sent.has(delivery._id)
  try {
    await failpoint('webhooks.claimed')
    run.asking += 1
    const outcome = await makeAttempt(c, endpoint, delivery, body).finally(() => {
      run.asking -= 1
    })
    if (run.abandoned) return
    await failpoint('webhooks.posted')
    await settleAttempt(c, run, { delivery, outcome, chosen, isFresh })
  } catch (err) {
    run.logger.error({ err, delivery_id: delivery._id }, 'delivery.interrupted')
    // Its outcome is not on record. The next lease, also one of this worker, counts it as interrupted.
    run.isUnclean = true
    run.stopped = true
  } finally {
    finish(c, run, chosen)
  }
}
