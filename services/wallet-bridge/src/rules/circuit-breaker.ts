import type { ScaleMs } from './retry-schedule.ts'

/** The rules of a wallet's circuit breaker. Source: docs/contract.md, section 11. */

const unknownsInARowMax = 10
const callsMin = 20
const buckets = 30
const bucketMs = 1000
const probeEveryMs = 5000

export type BreakerState = {
  readonly unknownsInARow: number
  /** Calls and unknown outcomes of the last 30 s, by second; oldest first. */
  readonly window: readonly { readonly second: number; readonly calls: number; readonly unknown: number }[]
  /** When the next probe may go; null while closed. */
  readonly probeAtMs: number | null
}

export const closedBreaker: BreakerState = { unknownsInARow: 0, window: [], probeAtMs: null }

/** Opened by 10 unknown outcomes in a row, or half of at least 20 calls in 30 s; closed by any answer. */
export function recordOutcome(state: BreakerState, answered: boolean, nowMs: number, scaleMs: ScaleMs) {
  if (answered && state.probeAtMs !== null) return closedBreaker
  const second = Math.floor(nowMs / scaleMs(bucketMs))
  const recent = state.window.filter((bucket) => bucket.second > second - buckets)
  const last = recent.at(-1)
  const bucket = last?.second === second ? last : { second, calls: 0, unknown: 0 }
  const counted = { second, calls: bucket.calls + 1, unknown: bucket.unknown + (answered ? 0 : 1) }
  const window = [...(bucket === last ? recent.slice(0, -1) : recent), counted]
  const unknownsInARow = answered ? 0 : state.unknownsInARow + 1
  const calls = window.reduce((sum, each) => sum + each.calls, 0)
  const unknown = window.reduce((sum, each) => sum + each.unknown, 0)
  const trips = unknownsInARow >= unknownsInARowMax || (calls >= callsMin && unknown * 2 >= calls)
  const probeAtMs = state.probeAtMs ?? (trips && !answered ? nowMs + scaleMs(probeEveryMs) : null)
  return { unknownsInARow, window, probeAtMs }
}

type Admission = { readonly admitted: boolean; readonly state: BreakerState }

/** While the breaker is open, one stake may go every 5 s as a probe; `state` has the time of the next. */
export function admitStake(state: BreakerState, nowMs: number, scaleMs: ScaleMs): Admission {
  if (state.probeAtMs === null) return { admitted: true, state }
  if (nowMs < state.probeAtMs) return { admitted: false, state }
  return { admitted: true, state: deferProbe(state, nowMs, scaleMs) }
}

/** Puts the next probe 5 s after `nowMs`, when this or another process sends one now. */
export function deferProbe(state: BreakerState, nowMs: number, scaleMs: ScaleMs): BreakerState {
  return state.probeAtMs === null ? state : { ...state, probeAtMs: nowMs + scaleMs(probeEveryMs) }
}
