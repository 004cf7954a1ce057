import { BoundedMap } from '@pitboss/runtime/bounded-map'
import {
  admitStake,
  type BreakerState,
  closedBreaker,
  deferProbe,
  recordOutcome,
} from '../rules/circuit-breaker.ts'
import type { ScaleMs } from '../rules/advance-movement.ts'

export const breakerNews = ['answered', 'unknown', 'probed'] as const

/** What one process tells the others of a wallet: how a call of its own ended, or that it lets a probe through. */
export type BreakerNote = { readonly wallet: string; readonly news: (typeof breakerNews)[number] }

/** The circuit breakers, one per wallet. They hold back new stakes alone. */
export type Breakers = {
  /** Whether a new stake may be sent; while open, once per probe interval. */
  admit(walletKey: string): boolean
  isOpen(walletKey: string): boolean
  record(walletKey: string, answered: boolean): void
  /** Takes in what another process told. */
  hear(note: BreakerNote): void
  open(): string[]
}

const walletsMax = 10_000

/**
 * Every process counts the calls of all of them: its own, and those it hears of. While they can't hear each other each goes by its own.
 * @param tell tells the other processes
 * @param onOpened called when a wallet's breaker opens
 * @param onClosed called when a wallet answers this process again after its breaker was open
 */
export function createBreakers({
  scaleMs,
  nowMs,
  tell,
  onOpened,
  onClosed,
}: {
  scaleMs: ScaleMs
  nowMs: () => number
  tell: (note: BreakerNote) => void
  onOpened: (walletKey: string) => void
  onClosed: (walletKey: string) => void
}): Breakers {
  const states = new BoundedMap<string, BreakerState>(walletsMax)
  const stateOf = (key: string) => states.get(key) ?? closedBreaker
  const isOpen = (key: string) => stateOf(key).probeAtMs !== null

  function count(key: string, answered: boolean): void {
    const wasOpen = isOpen(key)
    states.set(key, recordOutcome(stateOf(key), answered, nowMs(), scaleMs))
    if (!wasOpen && isOpen(key)) onOpened(key)
  }

  return {
    admit(key) {
      const before = stateOf(key)
      const { admitted, state } = admitStake(before, nowMs(), scaleMs)
      if (state === before) return admitted
      states.set(key, state)
      tell({ wallet: key, news: 'probed' })
      return admitted
    },
    isOpen,
    record(key, answered) {
      const wasOpen = isOpen(key)
      count(key, answered)
      tell({ wallet: key, news: answered ? 'answered' : 'unknown' })
      if (wasOpen && !isOpen(key)) onClosed(key)
    },
    hear({ wallet, news }) {
      if (news === 'probed') states.set(wallet, deferProbe(stateOf(wallet), nowMs(), scaleMs))
      else count(wallet, news === 'answered')
    },
    open: () => [...states.entries()].filter(([, state]) => state.probeAtMs !== null).map(([key]) => key),
  }
}
