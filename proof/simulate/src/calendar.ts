import type { Period } from '@pitboss/rounds/wings/protection/rules/player-limits'
import type { Random } from '@pitboss/chaos/random'

const dayMs = 86_400_000
/** 1 January 1970 was a Thursday. */
const daysSinceMonday = 3
const usualStartMs = Date.UTC(2026, 0, 1)
const turns = [
  // A Monday.
  Date.UTC(2026, 5, 1),
  Date.UTC(2026, 5, 1),
  Date.UTC(2026, 7, 1),
  // Mondays, and a day that is neither.
  Date.UTC(2026, 5, 8),
  Date.UTC(2026, 11, 28),
  Date.UTC(2026, 5, 10),
]

/**
 * When a run begins; decided by its seed. A quarter of the runs cross a midnight while players play: to the
 * first of a month, to a Monday, to both or to neither. @param stormMs how long players play
 */
export function pickStart(random: Random, stormMs: number): { startMs: number; turnsAtMs: number | null } {
  if (!random.chance(0.25)) return { startMs: usualStartMs, turnsAtMs: null }
  const turnsAtMs = random.pick(turns)
  return { startMs: turnsAtMs - random.between(1000, stormMs), turnsAtMs }
}

/** The period of an instant, as text that sorts by time; reckoned here, not by the product. UTC. */
export function periodOf(period: Period, atMs: number): string {
  const text = new Date(atMs).toISOString()
  if (period === 'week') return String(Math.floor((Math.floor(atMs / dayMs) + daysSinceMonday) / 7))
  return period === 'month' ? text.slice(0, 7) : text.slice(0, 10)
}

/** The midnights from one instant to another, the first excluded. */
export function midnightsIn(fromMs: number, toMs: number): number[] {
  const first = (Math.floor(fromMs / dayMs) + 1) * dayMs
  return first > toMs ? [] : [first, ...midnightsIn(first, toMs)]
}
