import { waitMaxMs } from '../rules/due-at.ts'
import type { StreamKey } from '@pitboss/storage/journal/journal-keys'

/** A round with work left, in the memory of the instance that wrote its last entry. */
export type WaitingRound = {
  readonly stream: StreamKey
  readonly scope: string
  readonly dueAt: Date
  /** Whether anything is owed: then it never waits for longer than a minute. */
  readonly isOwed: boolean
  /** How often a worker has looked at it since it changed last. */
  readonly checks: number
}

export type DueRound = { readonly roundId: string; readonly waiting: WaitingRound }

export type RoundWork = ReturnType<typeof createRoundWork>

/** Creates the memory of rounds that are unfinished, with the time at which a worker looks at each. */
export function createRoundWork() {
  const waiting = new Map<string, WaitingRound>()
  return {
    get: (roundId: string) => waiting.get(roundId) ?? null,
    /** Takes a round in, or moves it; null for its time drops it. */
    note(roundId: string, { dueAt, ...round }: Omit<WaitingRound, 'dueAt'> & { dueAt: Date | null }): void {
      if (dueAt === null) waiting.delete(roundId)
      else waiting.set(roundId, { ...round, dueAt })
    },
    drop: (roundId: string) => void waiting.delete(roundId),
    /** Drops what was due, unless it has been noted again since. */
    dropDue({ roundId, waiting: seen }: DueRound): void {
      if (waiting.get(roundId) === seen) waiting.delete(roundId)
    },
    forget: () => waiting.clear(),
    size: () => waiting.size,
    /** Due rounds by scope, longest first; also those dated beyond any delay, by a clock ahead. */
    due(now: Date): ReadonlyMap<string, readonly DueRound[]> {
      const isMisdated = ({ dueAt, isOwed }: WaitingRound) =>
        isOwed && dueAt.getTime() > now.getTime() + waitMaxMs
      const due = [...waiting]
        .filter(([, round]) => round.dueAt <= now || isMisdated(round))
        .map(([roundId, round]) => ({ roundId, waiting: round }))
        .toSorted((a, b) => a.waiting.dueAt.getTime() - b.waiting.dueAt.getTime())
      return Map.groupBy(due, (one) => one.waiting.scope)
    },
    /** The time at which the next one is due; infinite for none. */
    nextDueMs: () => Math.min(...[...waiting.values()].map(({ dueAt }) => dueAt.getTime()), Infinity),
  }
}
