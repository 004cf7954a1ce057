import { owesSomething, type RoundState } from './round.ts'

const minuteMs = 60_000
const idleMaxMs = 30 * minuteMs
const afterSessionMs = 1 * minuteMs

/** While its writer counts as at work on a round; then the sweeper takes over. Source: ours. */
export const graceMs = 4000
const backoffMaxMs = 15_000
/** The longest delay of a round that owes something. Source: ours. */
export const waitMaxMs = 60_000

type Scale = (ms: number) => number
type Look = { now: Date; checks: number; scaleMs: Scale; isKnown?: boolean }

/**
 * When a worker looks at the round again; null when only a message can move it. @param checks looks since the
 * last change: they become rarer, at least every 15 s. @param isKnown whether wallet-bridge has all that is
 * owed and will publish its end: then a look a minute is enough
 */
export function dueAt(round: RoundState, { now, checks, scaleMs, isKnown = false }: Look): Date | null {
  if (owesSomething(round)) {
    const maxMs = isKnown ? waitMaxMs : backoffMaxMs
    const waitMs = checks === 0 ? graceMs : Math.min(1000 * 2 ** (checks - 1), maxMs)
    return new Date(now.getTime() + waitMs)
  }
  if (round.status !== 'OPEN' || round.driver !== 'game') return null
  return abandonedAt(round, scaleMs)
}

/** Whether `at` lies within `ms` of now. A time far ahead was written by a wrong clock and is not recent. */
export function isRecent(at: Date, now: Date, ms: number): boolean {
  return Math.abs(now.getTime() - at.getTime()) < ms
}

/** The end of a sitting whose open round counts as abandoned at `at`. */
export function sittingAbandonedAt(at: Date, scaleMs: (ms: number) => number): Date {
  return new Date(at.getTime() - scaleMs(afterSessionMs))
}

/** The time at which an open round that we play counts as abandoned. Source: docs/contract.md, section 4. */
export function abandonedAt(round: Pick<RoundState, 'lastActionAt' | 'sittingEndsAt'>, scaleMs: Scale): Date {
  const idle = round.lastActionAt.getTime() + scaleMs(idleMaxMs)
  const left = round.sittingEndsAt.getTime() + scaleMs(afterSessionMs)
  return new Date(Math.min(idle, left))
}
