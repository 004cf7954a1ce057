import type { Scope } from '@pitboss/contracts/caller'
import { profileOf } from '@pitboss/contracts/jurisdictions'
import type { ServiceError } from '@pitboss/errors/service-error'
import { earlyStart, latestEarlierStart } from '../rules/pace.ts'
import type { PacesStore } from '../storage/paces-store.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import type { Parts } from './parts.ts'

/** The game starts of one player, as one request sees them. */
export type Pace = {
  /**
   * Records the start of a round that was made at `madeAt`; false when it comes too early. Starting again
   * under the same request is allowed.
   */
  start(madeAt: Date): Promise<boolean>
  /** The refusal RATE_LIMITED of a start now; null when it may happen. */
  early(): Promise<ServiceError | null>
}

/** Answers null for a session whose jurisdiction does not hold game starts apart. */
export type HoldPace = (
  scope: Scope,
  session: Pick<SessionDocument, 'playerId' | 'jurisdiction'>,
  startedBy: string,
) => Pace | null

/**
 * Creates the step that holds the game starts of a player apart, in all games and sessions and on all
 * replicas. All times are the database's, so clocks of replicas that differ shorten no gap.
 * Source: docs/contract.md, section 4, "Jurisdictions".
 */
export function createHoldPace({
  paces,
  clock,
  clockOffsetMs,
}: Pick<Parts, 'clock'> & {
  paces: PacesStore
  /** Milliseconds by which `clock` is ahead of the database's. */
  clockOffsetMs: () => number
}): HoldPace {
  const onDatabase = (time: Date) => new Date(time.getTime() - clockOffsetMs())

  return function holdPace(scope, session, startedBy) {
    const { startGapS: gapS } = profileOf(session)
    if (gapS === null) return null
    const { playerId } = session
    return {
      start(madeAt) {
        const start = { startedAt: onDatabase(clock.now()), startedBy }
        return paces.start(scope, playerId, start, latestEarlierStart(onDatabase(madeAt), gapS))
      },
      early: async () =>
        earlyStart(await paces.last(scope, playerId), { startedBy, gapS }, onDatabase(clock.now())),
    }
  }
}
