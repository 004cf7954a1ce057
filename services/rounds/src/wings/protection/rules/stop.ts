import type { RoundState } from '../../../rules/round.ts'

/** A stake that passed its check can still appear: the longest call, twice. Source: ours. */
const lateStakeMs = 10_000
/** Bounds of the time between looks, a tenth of the stop's age. Source: ours. */
const [lookAgainMs, lookAgainMaxMs] = [1000, 60_000]

export type LastBet = Pick<RoundState, 'sessionId' | 'game' | 'currency'> & {
  readonly roundId: string
  /** Minor units as text. */
  readonly stake: string
  readonly at: Date
}

/** A stop of a player: no new stake from `from` until `endsAt`, in all games and sessions. */
export type Stop = {
  readonly playerId: string
  readonly reason: string
  readonly from: Date
  /** As asked for; null for a stop without an end. */
  readonly until: Date | null
  /** `until`, or far in the future. */
  readonly endsAt: Date
  readonly liftedAt: Date | null
  readonly liftReason: string | null
  readonly roundsEndedAt: Date | null
  readonly lastBet: LastBet | null
}

export function stopStatusAt(
  { liftedAt, endsAt }: Pick<Stop, 'liftedAt' | 'endsAt'>,
  now: Date,
): 'IN_FORCE' | 'OVER' | 'LIFTED' {
  if (liftedAt !== null) return 'LIFTED'
  return now < endsAt ? 'IN_FORCE' : 'OVER'
}

/** Whether a stop ends this round: one that the service drives and that waits for its player. */
export function isEndedByStop(round: Pick<RoundState, 'driver' | 'status'>): boolean {
  return round.driver === 'game' && (round.status === 'PENDING' || round.status === 'OPEN')
}

/** The next look at the rounds; null when none can appear. @param left whether one has not ended */
export function nextLookAt({ from }: Pick<Stop, 'from'>, left: boolean, now: Date): Date | null {
  const lastLookAt = new Date(from.getTime() + lateStakeMs)
  if (!left && now >= lastLookAt) return null
  if (!left) return lastLookAt
  const tenthMs = (now.getTime() - from.getTime()) / 10
  return new Date(now.getTime() + Math.min(Math.max(tenthMs, lookAgainMs), lookAgainMaxMs))
}
