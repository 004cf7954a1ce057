import { type EndpointDocument, never } from '../storage/collections.ts'
import type { FirstLook } from './endpoint-view.ts'
import type { Deps } from './deps.ts'

/** An endpoint under this worker's lease, and what was read of its deliveries with it. */
export type LeasedEndpoint = {
  readonly endpoint: EndpointDocument
  readonly look: FirstLook
  /** An older lease may have left deliveries in flight. */
  readonly claimed: boolean
}

export type LeaseEndpoints = ReturnType<typeof createLeaseEndpoints>

/**
 * Shares the endpoints among the workers of all replicas. A lease stands as long as its worker's heartbeat is
 * fresh.
 */
export function createLeaseEndpoints({ endpoints, deliveries, workerId, clock }: Deps) {
  return {
    /** Renews this worker's heartbeat for `ttlMs`. @returns the other workers that live */
    async beat(ttlMs: number): Promise<readonly string[]> {
      const now = clock.now()
      await endpoints.beat({ _id: workerId, aliveUntil: new Date(now.getTime() + ttlMs) })
      return (await endpoints.aliveWorkers(now)).filter((id) => id !== workerId)
    },

    /**
     * The endpoints that have something to do and that no live worker holds, the longest waiting first.
     * @param own includes those that this worker holds
     */
    due: (alive: readonly string[], { own, limit }: { own: boolean; limit: number }): Promise<string[]> =>
      endpoints.due(clock.now(), own ? alive : [...alive, workerId], limit),

    /**
     * Takes the leases of those that are free, and reads what their work begins with, in three round trips.
     */
    async take(ids: readonly string[], alive: readonly string[]): Promise<LeasedEndpoint[]> {
      const leased = await endpoints.lease(ids, workerId, alive)
      const taken = leased.map(({ _id }) => _id)
      // Read after the lease: this sees all writes of an older holder, and later ones miss their fence.
      const [{ claimed, held }, upcoming] = await Promise.all([
        deliveries.unsettledOf(taken),
        deliveries.upcomingOf(taken),
      ])
      return leased.map((endpoint) => {
        const { _id: id } = endpoint
        const look = { upcoming: upcoming.get(id) ?? null, held: held.has(id) }
        return { endpoint, look, claimed: claimed.has(id) }
      })
    },

    /** The work counts of these endpoints, by id. */
    workCounts: (ids: readonly string[]): Promise<Map<string, number>> => endpoints.workCounts(ids),

    /**
     * Gives a lease back.
     * @param dueAt when the endpoint is due next; null for not by the clock
     * @returns false when more work was counted than `workCount`; the lease is kept then, or was lost before
     */
    release: (
      { _id, leaseToken: token }: EndpointDocument,
      { workCount, dueAt }: { workCount: number; dueAt: Date | null },
    ): Promise<boolean> => endpoints.release(_id, { token, workCount, dueAt: dueAt ?? never }),

    /** Gives a lease back with the endpoint due as it was, for another worker to take at once. */
    abandon: ({ _id, leaseToken }: EndpointDocument): Promise<void> => endpoints.abandon(_id, leaseToken),

    /** Ends this worker's heartbeat. */
    retire: (): Promise<void> => endpoints.retire(workerId),
  }
}

/**
 * Makes workers look at an endpoint at once: it was changed, or has something to deliver. The due time is
 * stored, so that the poll finds the endpoint when the notification is lost.
 */
export async function markDue(
  { endpoints, notifyWorkers, clock }: Pick<Deps, 'endpoints' | 'notifyWorkers' | 'clock'>,
  webhookId: string,
): Promise<void> {
  await endpoints.lowerDue([webhookId], clock.now())
  notifyWorkers([webhookId])
}
