/** A single operator comes to three quarters of the room, the second one to three quarters of the rest. */
const heldPerFree = 3

export type Slots = ReturnType<typeof createSlots>

export function createSlots({ totalMax }: { totalMax: number }) {
  const byOperator = new Map<string, number>()
  const waiting = new Map<string, Set<() => void>>()
  let total = 0
  const usedBy = (operatorId: string) => byOperator.get(operatorId) ?? 0

  /** How many more an operator can take until it holds three times what is then free; one, if any is free. */
  function roomOf(operatorId: string): number {
    const free = totalMax - total
    const used = usedBy(operatorId)
    if (used === 0) return Math.max(Math.min(1, free), Math.floor((heldPerFree * free) / (1 + heldPerFree)))
    return Math.max(0, Math.floor((heldPerFree * free - used) / (1 + heldPerFree)))
  }

  return {
    /** Takes slots: up to three times what is free; `scarceMax` in flight once half of either is used. */
    take(operatorId: string, wanted: number, endpoint: { inFlight: number; scarceMax: number }): number {
      const room = roomOf(operatorId)
      const used = usedBy(operatorId)
      const crowded = total * 2 > totalMax || used > room
      const fair = crowded ? Math.max(0, endpoint.scarceMax - endpoint.inFlight) : wanted
      const granted = Math.max(0, Math.min(wanted, room, fair))
      total += granted
      if (used + granted > 0) byOperator.set(operatorId, used + granted)
      return granted
    },
    give(operatorId: string): void {
      total -= 1
      const used = usedBy(operatorId) - 1
      if (used <= 0) byOperator.delete(operatorId)
      else byOperator.set(operatorId, used)
      const [next] = [...waiting.keys()].toSorted((a, b) => usedBy(a) - usedBy(b))
      const notifies = next === undefined ? undefined : waiting.get(next)
      const [notify] = notifies ?? []
      if (next === undefined || notifies === undefined || notify === undefined) return
      notifies.delete(notify)
      if (notifies.size === 0) waiting.delete(next)
      notify()
    },
    /** Calls `notify` once, when a slot comes free: that of the operator who holds the fewest goes first. */
    notifyWhenFree(operatorId: string, notify: () => void): void {
      const notifies = waiting.get(operatorId) ?? new Set()
      waiting.set(operatorId, notifies.add(notify))
    },
    inFlight: (): number => total,
  }
}

/** Weight of the newest attempt in the mean. Source: ours. */
const weight = 0.25
/** Sum of hold times when slots are scarce: twenty slots at 50 ms, one at a second or more. Source: ours. */
const scarceHeldMs = 1000

/** The mean time for which a place is taken, with one more attempt; `meanMs` is null before the first. */
export function withHold(meanMs: number | null, heldMs: number): number {
  return meanMs === null ? heldMs : meanMs + weight * (heldMs - meanMs)
}

/**
 * Attempts that an endpoint may have in flight while slots are scarce.
 * @param meanMs of its ended attempts; null before the first: it has to show first that it answers
 * @param oldestMs age of its oldest attempt: a receiver that begins to hang shows at once
 */
export function scarceInFlight(meanMs: number | null, oldestMs: number): number {
  if (meanMs === null) return 1
  return Math.max(1, Math.floor(scarceHeldMs / Math.max(meanMs, oldestMs, 1)))
}

export function createSlotHoldTimes() {
  /** Since when each is held, the oldest first. */
  const since = new Map<string, number>()
  let meanMs: number | null = null
  const oldestMs = (now: Date) => now.getTime() - (since.values().next().value ?? now.getTime())
  return {
    acquired: (deliveryId: string, now: Date): void => void since.set(deliveryId, now.getTime()),
    released(deliveryId: string, now: Date): void {
      const taken = since.get(deliveryId)
      if (taken === undefined) return
      since.delete(deliveryId)
      meanMs = withHold(meanMs, now.getTime() - taken)
    },
    scarceMax: (now: Date): number => scarceInFlight(meanMs, oldestMs(now)),
    /** For how long it holds a slot: the mean, or longer where one is held for longer already. */
    heldMs: (now: Date): number => Math.max(meanMs ?? 0, oldestMs(now)),
  }
}
