import type { Chosen } from '../actions/claim-deliveries.ts'
import type { EndpointTarget, Reservation } from '../actions/create-deliveries.ts'
import type { EndpointView } from '../actions/endpoint-view.ts'
import type { LeasedEndpoint } from '../actions/lease-endpoints.ts'

/** What a reservation does with its runner. */
type Runner = {
  /** The endpoint as it was read before the deliveries were made, and the token of the runner's lease. */
  readonly target: EndpointTarget
  readonly token: number
  /** Those that have their slots. */
  readonly chosen: readonly Chosen[]
  readonly view: Pick<EndpointView, 'add' | 'markStale'>
  readonly now: Date
  send(endpoint: LeasedEndpoint['endpoint'], one: Chosen, body: string | null): void
  /** Gives a slot back. */
  finish(one: Chosen): void
  /** Has the runner look at what waits, if it can do anything about it. */
  look(): void
  /** Ends the runner, so that the next holder of the lease recovers what is claimed. */
  stop(): void
  isStopped(): boolean
  onEnd(): void
}

/** What a runner has set aside for new deliveries; see `Reservation`. */
export function openReservation({ target, token, chosen, view, now, ...runner }: Runner): Reservation {
  let unsent = chosen
  return {
    webhookId: target._id,
    claimed: chosen.map(({ due }) => due),

    send(endpoint, inFlight, bodyOf) {
      const mine = endpoint?.leaseToken === token ? endpoint : null
      const taken = unsent
      unsent = []
      for (const one of taken) {
        if (mine === null || !inFlight.has(one.due._id)) runner.finish(one)
        else runner.send(mine, one, bodyOf(one.due))
      }
      if (mine === null) runner.stop()
      else if (mine.version !== target.version) view.markStale()
      return mine !== null
    },

    add(lease, waiting) {
      if (runner.isStopped() || lease?.leaseToken !== token || lease.dueAt > now) return false
      view.add(waiting)
      runner.look()
      return true
    },

    end() {
      // The attempts were not begun. Those that wait here are stored and told of in time.
      for (const one of unsent) runner.finish(one)
      if (unsent.length > 0) runner.stop()
      unsent = []
      runner.onEnd()
    },
  }
}
