import type { Scope } from '@pitboss/contracts/caller'
import { profileOf } from '@pitboss/contracts/jurisdictions'
import type {
  PlayerLimit as LimitRecord,
  PlayerLimits,
  WantedLimit as WantedRecord,
} from '@pitboss/contracts/objects/player-limits'
import type { PlayerStop, StopRecord } from '@pitboss/contracts/objects/player-stop'
import { formatAmount } from '@pitboss/money/amount'
import { realityCheckAt } from '../../../rules/live-rules.ts'
import type { SessionDocument } from '../../../storage/sessions-store.ts'
import { minuteMs, periodAt, type PlayerLimit, usedOf, type WantedLimit } from '../rules/player-limits.ts'
import { type LastBet, stopStatusAt } from '../rules/stop.ts'
import type { Spend } from '../storage/paces-store.ts'
import type { StoredLimits } from '../storage/player-limits-store.ts'
import type { StopDocument } from '../storage/stops-store.ts'

/** What a jurisdiction wants shown; net spend is stakes less payouts. Source: docs/contract.md, section 4. */
export function presentProtection(session: SessionDocument, { stakes, payouts }: Spend, now: Date) {
  const { currency, createdAt, expiresAt, closedAt, realityCheckS } = session
  const endsAt = closedAt ?? expiresAt
  const wholeS = (ms: number) => Math.max(0, Math.floor(ms / 1000))
  const dueAt = realityCheckAt(session)
  const due_in_s = Math.ceil(Math.max(0, (dueAt ?? now).getTime() - now.getTime()) / 1000)
  return {
    start_gap_s: profileOf(session).startGapS,
    elapsed_s: wholeS((now < endsAt ? now : endsAt).getTime() - createdAt.getTime()),
    net_spend: { amount: formatAmount(stakes - payouts, currency), currency },
    reality_check:
      dueAt === null || realityCheckS === undefined ? null : { every_s: realityCheckS, due_in_s },
  }
}

type Shown = Pick<StoredLimits, 'changes' | 'limits' | 'book'> & {
  readonly scope: Scope
  readonly playerId: string
  readonly now: Date
  readonly playedMs: ReadonlyMap<PlayerLimit, number>
}

export function presentLimits(shown: Shown): PlayerLimits {
  const { scope, playerId, changes, limits } = shown
  return {
    player_id: playerId,
    environment: scope.environment,
    limits: limits.map((limit) => presentLimit(limit, shown)),
    changes: changes.toReversed().map(({ at, reason, limits: asked }) => ({
      at: at.toISOString(),
      reason,
      limits: asked.map(presentWanted),
    })),
  }
}

function presentLimit(limit: PlayerLimit, { book, now, playedMs }: Shown): LimitRecord {
  const { kind, period, currency, value, next } = limit
  const { from, to } = periodAt(period, now)
  const standing = { period, from: from.toISOString(), resets_at: to.toISOString() }
  if (kind === 'time' || currency === null) {
    const [minutes, used] = [Number(value), Math.floor((playedMs.get(limit) ?? 0) / minuteMs)]
    const nextMinutes = next === null || next.value === null ? null : Number(next.value)
    const later = next === null ? null : { minutes: nextMinutes, at: next.at.toISOString() }
    const left = Math.max(0, minutes - used)
    return { ...standing, kind: 'time', minutes, used_minutes: used, left_minutes: left, next: later }
  }
  const text = (minor: bigint) => formatAmount(minor, currency)
  const used = usedOf(book, limit, now)
  const left = value > used ? value - used : 0n
  const nextAmount = next === null || next.value === null ? null : text(next.value)
  const later = next === null ? null : { amount: nextAmount, at: next.at.toISOString() }
  return { ...standing, kind, currency, amount: text(value), used: text(used), left: text(left), next: later }
}

export function presentWanted({ kind, period, currency, value }: WantedLimit): WantedRecord {
  if (kind === 'time' || currency === null) return { kind: 'time', period, minutes: Number(value) }
  return { kind, period, currency, amount: formatAmount(value, currency) }
}

/** The public record of a stop at `now`. Source: docs/contract.md, section 4, "Stops". */
export function presentStop(stop: StopDocument, now: Date): PlayerStop {
  return {
    stop_id: stop._id,
    status: stopStatusAt(stop, now),
    player_id: stop.playerId,
    environment: stop.environment,
    reason: stop.reason,
    from: stop.from.toISOString(),
    until: stop.until?.toISOString() ?? null,
    lifted_at: stop.liftedAt?.toISOString() ?? null,
    lift_reason: stop.liftReason,
    rounds_ended_at: stop.roundsEndedAt?.toISOString() ?? null,
    last_bet: presentLastBet(stop.lastBet),
    record: stop.record?.jws ?? null,
  }
}

/** The text of a stop's record, to be signed. @throws Error while its rounds have not ended */
export function stopRecordText(stop: StopDocument): string {
  if (stop.roundsEndedAt === null) throw new Error(`rounds of ${stop._id} have not ended`)
  const rounds_ended_at = stop.roundsEndedAt.toISOString()
  const shown = presentStop(stop, stop.roundsEndedAt)
  const { stop_id, environment, player_id, reason, from, until, lifted_at, last_bet } = shown
  // The order of its fields is signed.
  const record: StopRecord = {
    ...{ stop_id, operator_id: stop.operatorId, environment, player_id, reason, from, until, lifted_at },
    ...{ rounds_ended_at, last_bet },
  }
  return JSON.stringify(record)
}

function presentLastBet(lastBet: LastBet | null): PlayerStop['last_bet'] {
  if (lastBet === null) return null
  return {
    round_id: lastBet.roundId,
    session_id: lastBet.sessionId,
    game: lastBet.game,
    stake: formatAmount(BigInt(lastBet.stake), lastBet.currency),
    currency: lastBet.currency,
    at: lastBet.at.toISOString(),
  }
}
