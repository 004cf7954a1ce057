import { ServiceError } from '@pitboss/errors/service-error'

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
