import { ServiceError } from '@pitboss/errors/service-error'
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

type Ends = { readonly liftedAt: Date | null; readonly endsAt: Date }

export function stopStatusAt({ liftedAt, endsAt }: Ends, now: Date): 'IN_FORCE' | 'OVER' | 'LIFTED' {
  if (liftedAt !== null) return 'LIFTED'
  return now < endsAt ? 'IN_FORCE' : 'OVER'
}

/** Whether a stop ends this round: one that the service drives and that waits for its player. */
export function isEndedByStop(round: Pick<RoundState, 'driver' | 'status'>): boolean {
  return round.driver === 'game' && (round.status === 'PENDING' || round.status === 'OPEN')
}

/** The next look at the rounds; null when none can appear. @param left whether one has not ended */
export function nextLookAt({ from }: { readonly from: Date }, left: boolean, now: Date): Date | null {
  const lastLookAt = new Date(from.getTime() + lateStakeMs)
  if (!left && now >= lastLookAt) return null
  if (!left) return lastLookAt
  const tenthMs = (now.getTime() - from.getTime()) / 10
  return new Date(now.getTime() + Math.min(Math.max(tenthMs, lookAgainMs), lookAgainMaxMs))
}

/** A player's last game start. `startedBy` names the request: its repeat is never too early. */
export type GameStart = { readonly startedAt: Date; readonly startedBy: string }

/** The last instant of an earlier start that allows a start at `at`. Source: docs/contract.md, section 4. */
export function latestEarlierStart(at: Date, gapS: number): Date {
  return new Date(at.getTime() - gapS * 1000)
}

/** The refusal of a start too soon after the last; else null. Source: docs/contract.md, section 4. */
export function earlyStart(
  last: GameStart | null,
  { startedBy, gapS }: { readonly startedBy: string; readonly gapS: number },
  now: Date,
): ServiceError | null {
  if (last === null || last.startedBy === startedBy) return null
  const waitMs = last.startedAt.getTime() - latestEarlierStart(now, gapS).getTime()
  if (waitMs <= 0) return null
  const retryAfterS = Math.ceil(waitMs / 1000)
  const message = `The next game can start in ${retryAfterS} s.`
  return new ServiceError('RATE_LIMITED', { message, retryAfterS })
}
