import { createLateness } from '../rules/lateness.ts'
import type { EndpointView } from './endpoint-view.ts'

/**
 * Follows by how many milliseconds an endpoint's new deliveries are later than they have to be, as its
 * worker sees them; asked at even intervals.
 * @returns what takes the number of attempts that are at the receiver
 */
export function createEndpointLateness(
  view: Pick<EndpointView, 'isFullyHealthy' | 'isPaused' | 'firstNew' | 'pace'>,
): (asking: number, now: Date) => number {
  const latenessOf = createLateness()
  return (asking, now) =>
    latenessOf({
      healthy: view.isFullyHealthy() && !view.isPaused(),
      first: view.firstNew(),
      busyShare: asking / view.pace(),
      now,
    })
}
