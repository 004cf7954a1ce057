/** Room for attempts in flight in this process, over all endpoints and per operator. */
export type Slots = {
  /**
   * Takes up to `wanted` slots. When more than half of the room is in use, an endpoint keeps at most one in
   * flight, so that a few slow receivers never use up the room of the others.
   */
  take(operatorId: string, wanted: number, inFlightOfEndpoint: number): number
  give(operatorId: string): void
  /** Calls `notify` once, when a slot comes free. */
  notifyWhenFree(notify: () => void): void
  inFlight(): number
}

const crowdedInFlightMax = 1

export function createSlots({
  totalMax,
  perOperatorMax,
}: {
  totalMax: number
  perOperatorMax: number
}): Slots {
  const byOperator = new Map<string, number>()
  const waiting = new Set<() => void>()
  let total = 0

  return {
    take(operatorId, wanted, inFlightOfEndpoint) {
      const used = byOperator.get(operatorId) ?? 0
      const room = Math.min(totalMax - total, perOperatorMax - used)
      const crowded = total * 2 > totalMax || used * 2 > perOperatorMax
      const fair = crowded ? Math.max(0, crowdedInFlightMax - inFlightOfEndpoint) : wanted
      const granted = Math.max(0, Math.min(wanted, room, fair))
      total += granted
      if (used + granted > 0) byOperator.set(operatorId, used + granted)
      return granted
    },
    give(operatorId) {
      total -= 1
      const used = (byOperator.get(operatorId) ?? 1) - 1
      if (used === 0) byOperator.delete(operatorId)
      else byOperator.set(operatorId, used)
      const [notify] = waiting
      if (notify === undefined) return
      waiting.delete(notify)
      notify()
    },
    notifyWhenFree(notify) {
      waiting.add(notify)
    },
    inFlight: () => total,
  }
}
