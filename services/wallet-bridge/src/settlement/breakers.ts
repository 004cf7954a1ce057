import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { admitStake, type BreakerState, closedBreaker, recordOutcome } from '../domain/circuit-breaker.ts'
import type { ScaleMs } from '../domain/advance-movement.ts'

/** The circuit breakers of this process, one per wallet. They hold back new stakes alone. */
export type Breakers = {
  /** Whether a new stake may be sent; while open, once per probe interval. */
  admit(walletKey: string): boolean
  isOpen(walletKey: string): boolean
  record(walletKey: string, answered: boolean): void
  open(): string[]
}

const walletsMax = 10_000

/**
 * @param onOpened called when a wallet's breaker opens
 * @param onClosed called when a wallet answers again after its breaker was open
 */
export function createBreakers({
  scaleMs,
  nowMs,
  onOpened,
  onClosed,
}: {
  scaleMs: ScaleMs
  nowMs: () => number
  onOpened: (walletKey: string) => void
  onClosed: (walletKey: string) => void
}): Breakers {
  const states = new BoundedMap<string, BreakerState>(walletsMax)
  const stateOf = (key: string) => states.get(key) ?? closedBreaker

  return {
    admit(key) {
      const { admitted, state } = admitStake(stateOf(key), nowMs(), scaleMs)
      if (state !== closedBreaker) states.set(key, state)
      return admitted
    },
    isOpen: (key) => stateOf(key).probeAtMs !== null,
    record(key, answered) {
      const before = stateOf(key)
      const after = recordOutcome(before, answered, nowMs(), scaleMs)
      states.set(key, after)
      if (before.probeAtMs === null && after.probeAtMs !== null) onOpened(key)
      if (before.probeAtMs !== null && after.probeAtMs === null) onClosed(key)
    },
    open: () => [...states.entries()].filter(([, state]) => state.probeAtMs !== null).map(([key]) => key),
  }
}
