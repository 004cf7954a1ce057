/** Weight of the newest attempt in the mean. Source: ours. */
const weight = 0.25
/**
 * What one endpoint's places may add up to while places are scarce, in milliseconds for which each is held:
 * twenty for a receiver that answers within 50 ms, one for one that takes a second or hangs. Source: ours.
 */
const scarceHeldMs = 1000

/** The mean time for which a place is taken, with one more attempt; `meanMs` is null before the first. */
export function withHold(meanMs: number | null, heldMs: number): number {
  return meanMs === null ? heldMs : meanMs + weight * (heldMs - meanMs)
}

/**
 * Attempts that an endpoint may have in flight while places are scarce; at least one.
 * @param meanMs of its attempts that have ended; null before the first: it has to show first that it answers
 * @param oldestMs how long its oldest attempt is in flight; a receiver that has begun to hang shows at once
 */
export function scarceInFlight(meanMs: number | null, oldestMs: number): number {
  if (meanMs === null) return 1
  return Math.max(1, Math.floor(scarceHeldMs / Math.max(meanMs, oldestMs, 1)))
}

/** How long an endpoint holds its slots; nothing is known of it yet. */
export function createSlotHoldTimes() {
  /** Since when each is held, the oldest first. */
  const since = new Map<string, number>()
  let meanMs: number | null = null
  function oldestMs(now: Date): number {
    const [oldest = now.getTime()] = since.values()
    return now.getTime() - oldest
  }
  return {
    acquired: (deliveryId: string, now: Date): void => void since.set(deliveryId, now.getTime()),
    released(deliveryId: string, now: Date): void {
      const taken = since.get(deliveryId)
      if (taken === undefined) return
      since.delete(deliveryId)
      meanMs = withHold(meanMs, now.getTime() - taken)
    },
    /** What it may have in flight while slots are scarce. */
    scarceMax: (now: Date): number => scarceInFlight(meanMs, oldestMs(now)),
    /** For how long it holds a slot: the mean, or longer where one is held for longer already. */
    heldMs: (now: Date): number => Math.max(meanMs ?? 0, oldestMs(now)),
  }
}
