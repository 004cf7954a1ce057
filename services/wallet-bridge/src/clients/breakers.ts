import { BoundedMap } from '@pitboss/runtime/bounded-map'
import {
  admitStake,
  type BreakerState,
  closedBreaker,
  deferProbe,
  recordOutcome,
} from '../rules/circuit-breaker.ts'
import type { ScaleMs } from '../rules/retry-schedule.ts'

export const breakerNotes = ['answered', 'unknown', 'probed'] as const

/** Notifies other processes how a call to a wallet ended here, or that a probe goes out from here. */
export type BreakerNote = { readonly wallet: string; readonly news: (typeof breakerNotes)[number] }

/** The circuit breakers, one per wallet. They hold back new stakes only. */
export type Breakers = ReturnType<typeof createBreakers>

const walletsMax = 10_000
/**
 * Every process counts its own calls and those of which other processes notify it. Without a connection
 * between them each counts only its own.
 * @param notify sends a note to the other processes
 * @param onOpened called when a wallet's breaker opens
 * @param onClosed called when a wallet answers again, this process or another one, after its breaker was open
 */
export function createBreakers({
  scaleMs,
  nowMs,
  notify,
  onOpened,
  onClosed,
}: {
  scaleMs: ScaleMs
  nowMs: () => number
  notify: (note: BreakerNote) => void
  onOpened: (walletKey: string) => void
  onClosed: (walletKey: string) => void
}) {
  const states = new BoundedMap<string, BreakerState>(walletsMax)
  const stateOf = (key: string) => states.get(key) ?? closedBreaker
  const isOpen = (key: string) => stateOf(key).probeAtMs !== null

  function count(key: string, answered: boolean): void {
    const wasOpen = isOpen(key)
    states.set(key, recordOutcome(stateOf(key), answered, nowMs(), scaleMs))
    if (!wasOpen && isOpen(key)) onOpened(key)
    if (wasOpen && !isOpen(key)) onClosed(key)
  }

  return {
    /** Whether a new stake may be sent; while the breaker is open, one as a probe in each interval. */
    admit(key: string): boolean {
      const before = stateOf(key)
      const { admitted, state } = admitStake(before, nowMs(), scaleMs)
      if (state === before) return admitted
      states.set(key, state)
      notify({ wallet: key, news: 'probed' })
      return admitted
    },
    isOpen,
    record(key: string, answered: boolean): void {
      count(key, answered)
      notify({ wallet: key, news: answered ? 'answered' : 'unknown' })
    },
    /** Takes in a note of another process. */
    receive({ wallet, news }: BreakerNote): void {
      if (news === 'probed') states.set(wallet, deferProbe(stateOf(wallet), nowMs(), scaleMs))
      else count(wallet, news === 'answered')
    },
    open: () => [...states.entries()].filter(([, state]) => state.probeAtMs !== null).map(([key]) => key),
  }
}
