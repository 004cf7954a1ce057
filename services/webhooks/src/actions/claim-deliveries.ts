import type { Scope } from '@pitboss/contracts/caller'
import { partition } from '@pitboss/runtime/partition'
import { inFlightMaxOf, nextProbe } from '../rules/endpoint-health.ts'
import { chooseDue, type Turns } from '../rules/choose-due.ts'
import { isUnsubscribed } from '../rules/subscription.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'
import type { Upcoming } from '../storage/delivery-queue.ts'
import type { Deps } from './deps.ts'

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

export type ClaimDeliveries = ReturnType<typeof createClaimDeliveries>

/** Chooses an endpoint's due deliveries, and claims stored ones under its lease. */
export function createClaimDeliveries({ deliveries, bodies }: Pick<Deps, 'deliveries' | 'bodies'>) {
  return {
    /** Chooses what may be sent now. */
    async choose({
      endpoint,
      waiting,
      inFlight,
      probeInFlight,
      turns,
      now,
    }: {
      endpoint: EndpointDocument
      waiting: Upcoming['lanes']
      inFlight: readonly DueDelivery[]
      probeInFlight: boolean
      turns: Turns
      now: Date
    }): Promise<Choice> {
      if (endpoint.deletedAt !== null) return { chosen: [], unsubscribed: [], nextAt: null, turns }
      const choice = chooseDue({
        ...{
          health: endpoint.health,
          inFlightMax: inFlightMaxOf(endpoint),
          waiting,
          probeInFlight,
          turns,
          now,
        },
        inFlight: inFlight.length,
        replayInFlight: inFlight.filter(({ lane }) => lane === 'replay').length,
      })
      const chosen = choice.chosen.map((due) => ({ due, probe: false }))
      const probe = choice.probe
        ? await deliveries.probe(endpoint._id, nextProbe(endpoint.health), now)
        : null
      const [unsubscribed, wanted] = partition(
        probe === null ? chosen : [{ due: probe, probe: true }, ...chosen],
        ({ due }) => isUnsubscribed(endpoint, due),
      )
      return {
        chosen: wanted,
        unsubscribed: unsubscribed.map(({ due }) => due),
        nextAt: choice.nextAt,
        turns: choice.turns,
      }
    },

    /** Cancels those that are not sent any more. */
    cancel: (webhookId: string, unsubscribed: readonly DueDelivery[]): Promise<void> =>
      deliveries.cancelWaiting(
        webhookId,
        unsubscribed.map(({ _id }) => _id),
      ),

    /**
     * Stores the next attempt number of each and reads its body. After a throw, any of them may be claimed.
     * @param scope that of their endpoint
     */
    async claim(scope: Scope, chosen: readonly Chosen[], token: number, now: Date): Promise<Claimed[]> {
      const real = chosen.filter(({ due }) => due.eventType !== 'webhook.test')
      const [texts, claimed] = await Promise.all([
        bodies.of(
          scope,
          real.map(({ due }) => due.eventId),
        ),
        deliveries.claim(
          chosen.map(({ due }) => due),
          token,
          now,
        ),
      ])
      const byId = new Map(claimed.map((delivery) => [delivery._id, delivery]))
      return chosen.map((one) => {
        const delivery = byId.get(one.due._id) ?? null
        return { chosen: one, delivery, body: delivery?.testBody ?? texts.get(one.due.eventId) ?? null }
      })
    },
  }
}
