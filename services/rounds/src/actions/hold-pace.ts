import { profileOf } from '@pitboss/contracts/jurisdictions'
import { earlyStart, latestEarlierStart } from '../rules/pace.ts'
import type { PacesStore } from '../storage/paces-store.ts'
import type { Parts } from './parts.ts'
import type { Hooks } from '../hooks.ts'

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
}): Hooks['holdPace'] {
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
