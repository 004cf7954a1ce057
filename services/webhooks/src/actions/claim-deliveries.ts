import type { Scope } from '@pitboss/contracts/caller'
import { partition } from '@pitboss/runtime/partition'
import { inFlightMaxOf, nextProbe } from '../rules/endpoint-health.ts'
import { chooseDue, type Turns } from '../rules/choose-due.ts'
import { isUnsubscribed } from '../rules/subscription.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'
import type { Upcoming } from '../storage/delivery-queue.ts'
import type { WebhooksContext } from '../context.ts'

/** A delivery to be claimed. @param probe the open breaker lets it through */
export type Chosen = { readonly due: DueDelivery; readonly probe: boolean }

export type Choice = {
  readonly chosen: readonly Chosen[]
  /** Those that are cancelled instead: of types that the endpoint has unsubscribed. */
  readonly unsubscribed: readonly DueDelivery[]
  /** When there will be more; null for not by the clock alone. */
  readonly nextAt: Date | null
  readonly turns: Turns
}

export type Claimed = {
  readonly chosen: Chosen
  /** The delivery with its next attempt number; null when somebody else changed it since it was read. */
  readonly delivery: DueDelivery | null
  /** What to send; null when the event log lacks the event. */
  readonly body: string | null
}

/** Chooses an endpoint's due deliveries that may be sent now. */
export async function chooseDeliveries(
  { deliveries }: Pick<WebhooksContext, 'deliveries'>,
  endpoint: EndpointDocument,
  {
    inFlight,
    ...state
  }: {
    readonly waiting: Upcoming['lanes']
    readonly inFlight: readonly DueDelivery[]
    readonly probeInFlight: boolean
    readonly turns: Turns
    readonly now: Date
  },
): Promise<Choice> {
  const { health } = endpoint
  if (endpoint.deletedAt !== null) return { chosen: [], unsubscribed: [], nextAt: null, turns: state.turns }
  const choice = chooseDue({
    ...{ ...state, health, inFlightMax: inFlightMaxOf(endpoint), inFlight: inFlight.length },
    replayInFlight: inFlight.filter(({ lane }) => lane === 'replay').length,
  })
  const chosen = choice.chosen.map((due) => ({ due, probe: false }))
  const probe = choice.probe ? await deliveries.probe(endpoint._id, nextProbe(health), state.now) : null
  const [unsubscribed, wanted] = partition(
    probe === null ? chosen : [{ due: probe, probe: true }, ...chosen],
    ({ due }) => isUnsubscribed(endpoint, due),
  )
  const { nextAt, turns } = choice
  return { chosen: wanted, unsubscribed: unsubscribed.map(({ due }) => due), nextAt, turns }
}

/**
 * Claims stored deliveries under a lease: stores the next attempt number of each and reads its body. After a
 * throw, any of them may be claimed.
 * @param scope that of their endpoint
 */
export async function claimDeliveries(
  { deliveries, events }: Pick<WebhooksContext, 'deliveries' | 'events'>,
  scope: Scope,
  chosen: readonly Chosen[],
  token: number,
  now: Date,
): Promise<Claimed[]> {
  const real = chosen.filter(({ due }) => due.eventType !== 'webhook.test')
  const eventIds = real.map(({ due }) => due.eventId)
  const dues = chosen.map(({ due }) => due)
  const [texts, claimed] = await Promise.all([
    events.bodies(scope, eventIds),
    deliveries.claim(dues, token, now),
  ])
  const byId = new Map(claimed.map((delivery) => [delivery._id, delivery]))
  return chosen.map((one) => {
    const delivery = byId.get(one.due._id) ?? null
    return { chosen: one, delivery, body: delivery?.testBody ?? texts.get(one.due.eventId) ?? null }
  })
}
