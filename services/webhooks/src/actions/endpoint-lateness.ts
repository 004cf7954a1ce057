import { lagOf, type Standing } from '../rules/due-lag.ts'
import { createFullness, createLateness } from '../rules/lateness.ts'
import type { DueDelivery } from '../storage/collections.ts'
import type { EndpointView } from './endpoint-view.ts'

/**
 * `lateMs`: by how many milliseconds the endpoint's new deliveries are later than they have to be; `dueMs`:
 * for how many the new or repeated delivery that is longest due has been due, whoever is to blame.
 */
export type EndpointLateness = {
  readonly lateMs: number
  readonly standing: Standing
  readonly dueMs: number
}

/** An endpoint of an account, and how late its deliveries are. */
export type LateEndpoint = EndpointLateness & { readonly account: string }

/**
 * Follows how late an endpoint's deliveries are, as its worker sees them; asked at even intervals.
 * @returns what takes the number of attempts that are at the receiver
 */
export function createEndpointLateness(
  view: Pick<EndpointView, 'isFullyHealthy' | 'isShut' | 'firstDueAt' | 'pace'> & {
    /** The first of the new deliveries that wait, in due order; null for none. */
    firstNew(): Pick<DueDelivery, 'dueAt' | 'createdAt'> | null
  },
): (asking: number, now: Date) => EndpointLateness {
  const latenessOf = createLateness()
  const isFull = createFullness()
  return function endpointLateness(asking, now) {
    const healthy = view.isFullyHealthy() && !view.isShut()
    const busyShare = asking / view.pace()
    const full = isFull(busyShare)
    return {
      lateMs: latenessOf({ healthy, first: view.firstNew(), busyShare, now }),
      standing: healthy ? (full ? 'full' : 'healthy') : 'unhealthy',
      dueMs: lagOf(view.firstDueAt(), now),
    }
  }
}
