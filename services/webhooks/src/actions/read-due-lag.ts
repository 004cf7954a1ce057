import { mapBounded } from '@pitboss/runtime/map-bounded'
import { lagOf } from '../rules/due-lag.ts'
import type { Deps } from './deps.ts'

/**
 * Of the open breakers those that are looked into; the ones that failed longest are among them. Source: ours.
 */
const breakersLookedInto = 50
const lookupsAtOnce = 8

/** What no worker of this process sees: endpoints that nobody runs. */
export type UnseenLag = {
  readonly breakersOpen: number
  /** For how many milliseconds the longest due delivery behind an open breaker has been due. */
  readonly behindBreakerMs: number
  /** For how many milliseconds an endpoint has waited for a worker. */
  readonly untakenMs: number
}

/** Creates the reading of what is due at endpoints of all accounts that no worker holds. */
export function createReadDueLag({
  endpoints,
  deliveries,
  clock,
}: Pick<Deps, 'endpoints' | 'deliveries' | 'clock'>) {
  return async function readDueLag(): Promise<UnseenLag> {
    const now = clock.now()
    const alive = await endpoints.aliveWorkers(now)
    const [untaken, { count, longest }] = await Promise.all([
      endpoints.longestUntaken(now, alive),
      endpoints.openBreakers(breakersLookedInto),
    ])
    const firsts = await mapBounded(longest, lookupsAtOnce, (id) => deliveries.firstDueAt(id))
    return {
      breakersOpen: count,
      behindBreakerMs: Math.max(0, ...firsts.map((at) => lagOf(at, now))),
      untakenMs: lagOf(untaken, now),
    }
  }
}
