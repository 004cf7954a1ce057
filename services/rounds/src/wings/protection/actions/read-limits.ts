import type { Scope } from '@pitboss/contracts/caller'
import type { LimitsContext } from '../context.ts'
import { type LimitBook, settleCharges } from '../rules/limit-book.ts'
import { limitsAt, type PlayerLimit, periodAt, playedMs } from '../rules/player-limits.ts'
import type { StoredLimits } from '../storage/player-limits-store.ts'

/** A session that was open in a period began at most its longest life before. */
const sessionMaxMs = 86_400_000

export type LimitsNow = {
  readonly stored: StoredLimits
  readonly limits: readonly PlayerLimit[]
  readonly book: LimitBook
  readonly now: Date
}

/** Reads the database's time, by which all replicas see the same period. */
export function databaseNow({ clock, clockOffsetMs }: Pick<LimitsContext, 'clock' | 'clockOffsetMs'>): Date {
  return new Date(clock.now().getTime() - clockOffsetMs())
}

/** Reads a player's limits; null for a player who never had any. */
export async function readLimits(
  context: LimitsContext,
  scope: Scope,
  playerId: string,
): Promise<LimitsNow | null> {
  const stored = await context.playerLimits.find(scope, playerId)
  if (stored === null) return null
  const ids = [...new Set(stored.book.charges.map(({ roundId }) => roundId))]
  const charged = ids.length === 0 ? [] : await context.rounds.charged(scope, ids)
  const now = databaseNow(context)
  return {
    stored,
    now,
    limits: limitsAt(stored.limits, now),
    book: settleCharges(stored.book, charged, now),
  }
}

/** Reads the milliseconds in which the player had a session open, by the limits of time. */
export async function readPlayed(
  { sessions }: Pick<LimitsContext, 'sessions'>,
  scope: Scope,
  playerId: string,
  { limits, now }: Pick<LimitsNow, 'limits' | 'now'>,
) {
  const timed = limits.filter(({ kind }) => kind === 'time')
  if (timed.length === 0) return []
  const first = Math.min(...timed.map(({ period }) => periodAt(period, now).from.getTime()))
  const times = await sessions.timesOf(scope, playerId, new Date(first - sessionMaxMs))
  return timed.map((limit) => ({ limit, ms: playedMs(times, periodAt(limit.period, now).from, now) }))
}
