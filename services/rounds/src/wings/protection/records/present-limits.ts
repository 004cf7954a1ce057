import type { Scope } from '@pitboss/contracts/caller'
import type {
  PlayerLimit as LimitRecord,
  PlayerLimits,
  WantedLimit as WantedRecord,
} from '@pitboss/contracts/objects/player-limits'
import { formatAmount } from '@pitboss/money/amount'
import { type LimitBook, usedOf } from '../rules/limit-book.ts'
import { type PlayerLimit, periodAt, type WantedLimit } from '../rules/player-limits.ts'
import type { StoredLimits } from '../storage/player-limits-store.ts'

const minuteMs = 60_000

export function presentLimits(shown: {
  readonly scope: Scope
  readonly playerId: string
  readonly changes: StoredLimits['changes']
  readonly limits: readonly PlayerLimit[]
  readonly book: LimitBook
  readonly now: Date
  /** The time played in the period of each limit of time. */
  readonly played: readonly { limit: PlayerLimit; ms: number }[]
}): PlayerLimits {
  const { scope, playerId, changes, limits, book, now, played } = shown
  const msOf = new Map(played.map(({ limit, ms }) => [limit, ms]))
  return {
    player_id: playerId,
    environment: scope.environment,
    limits: limits.map((limit) => presentLimit(limit, { book, now, playedMs: msOf.get(limit) ?? 0 })),
    changes: changes.toReversed().map(({ at, reason, limits: asked }) => ({
      at: at.toISOString(),
      reason,
      limits: asked.map(presentWanted),
    })),
  }
}

function presentLimit(
  limit: PlayerLimit,
  { book, now, playedMs }: { book: LimitBook; now: Date; playedMs: number },
): LimitRecord {
  const { kind, period, currency, value, next } = limit
  const { from, to } = periodAt(period, now)
  const standing = { period, from: from.toISOString(), resets_at: to.toISOString() }
  if (kind === 'time' || currency === null) {
    const [minutes, used] = [Number(value), Math.floor(playedMs / minuteMs)]
    const later = next === null ? null : { minutes: minutesOf(next.value), at: next.at.toISOString() }
    const left = Math.max(0, minutes - used)
    return { ...standing, kind: 'time', minutes, used_minutes: used, left_minutes: left, next: later }
  }
  const text = (minor: bigint) => formatAmount(minor, currency)
  const used = usedOf(book, limit, now)
  const left = value > used ? value - used : 0n
  const later =
    next === null
      ? null
      : { amount: next.value === null ? null : text(next.value), at: next.at.toISOString() }
  return { ...standing, kind, currency, amount: text(value), used: text(used), left: text(left), next: later }
}

export function presentWanted({ kind, period, currency, value }: WantedLimit): WantedRecord {
  if (kind === 'time' || currency === null) return { kind: 'time', period, minutes: Number(value) }
  return { kind, period, currency, amount: formatAmount(value, currency) }
}

function minutesOf(value: bigint | null): number | null {
  return value === null ? null : Number(value)
}
