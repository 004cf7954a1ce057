import type { SessionTimes } from '../../../rules/live-rules.ts'

/** The time over which a limit counts: a day, a week from Monday or a month, of UTC. */
export type Period = 'day' | 'week' | 'month'
export const periods: readonly Period[] = ['day', 'week', 'month']

/** Wait before a limit is loosened. Source: docs/contract.md, section 4, "Limits of a player". */
export const coolingMs = 24 * 60 * 60 * 1000

/** A limit of one player. `value` is minor units of `currency`, of time it is minutes. */
export type PlayerLimit = {
  readonly kind: 'loss' | 'stake' | 'time'
  readonly period: Period
  /** Null for time. */
  readonly currency: string | null
  readonly value: bigint
  /** The value from `at` on; null in it for no limit any more. */
  readonly next: { readonly value: bigint | null; readonly at: Date } | null
}

export type WantedLimit = Omit<PlayerLimit, 'next'>

/** The running period at `now`, its end excluded. */
export function periodAt(period: Period, now: Date): { from: Date; to: Date } {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const at = (y: number, m: number, d: number) => new Date(Date.UTC(y, m, d))
  if (period === 'month') return { from: at(year, month, 1), to: at(year, month + 1, 1) }
  if (period === 'day') return { from: at(year, month, day), to: at(year, month, day + 1) }
  const monday = day - ((now.getUTCDay() + 6) % 7)
  return { from: at(year, month, monday), to: at(year, month, monday + 7) }
}

/** The name of a limit; a player has each once. */
export function limitKey({ kind, period, currency }: WantedLimit): string {
  return [kind, period, ...(currency === null ? [] : [currency])].join(' ')
}

/** The limits in force at `now`: what has cooled down has taken its place. */
export function limitsAt(limits: readonly PlayerLimit[], now: Date): PlayerLimit[] {
  return limits.flatMap((limit) => {
    if (limit.next === null || limit.next.at > now) return [limit]
    return limit.next.value === null ? [] : [{ ...limit, value: limit.next.value, next: null }]
  })
}

/**
 * The limits after a player's limits were set to `wanted`. A lower or a new one is in force at once. A higher
 * one, or its removal, waits for `coolingMs`; asking for the same again, or for less of a raise, does not
 * restart that wait. Source: docs/contract.md, section 4, "Limits of a player".
 */
export function changeLimits(
  limits: readonly PlayerLimit[],
  wanted: readonly WantedLimit[],
  now: Date,
): PlayerLimit[] {
  const before = new Map(limitsAt(limits, now).map((limit) => [limitKey(limit), limit]))
  const asked = wanted.map((want) => {
    const old = before.get(limitKey(want))
    return old === undefined || want.value <= old.value
      ? { ...want, next: null }
      : { ...old, next: loosened(old, want.value, now) }
  })
  const named = new Set(wanted.map(limitKey))
  const dropped = [...before.values()].filter((old) => !named.has(limitKey(old)))
  return [...asked, ...dropped.map((old) => ({ ...old, next: loosened(old, null, now) }))]
}

function loosened({ next }: PlayerLimit, value: bigint | null, now: Date) {
  const waits = next !== null && (next.value === null || (value !== null && value <= next.value))
  return { value, at: waits ? next.at : new Date(now.getTime() + coolingMs) }
}

/** Milliseconds with a session open. Source: docs/contract.md, section 4, "Limits of a player". */
export function playedMs(sessions: readonly SessionTimes[], from: Date, now: Date): number {
  const spans = sessions
    .map(({ createdAt, expiresAt, closedAt }) => ({
      from: Math.max(createdAt.getTime(), from.getTime()),
      to: Math.min((closedAt ?? expiresAt).getTime(), expiresAt.getTime(), now.getTime()),
    }))
    .toSorted((a, b) => a.from - b.from)
  let [played, reached] = [0, Number.NEGATIVE_INFINITY]
  for (const span of spans) {
    const begin = Math.max(span.from, reached)
    if (span.to <= begin) continue
    played += span.to - begin
    reached = span.to
  }
  return played
}
