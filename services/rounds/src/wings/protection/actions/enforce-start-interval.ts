import type { Scope } from '@pitboss/contracts/caller'
import { profileOf } from '@pitboss/contracts/jurisdictions'
import type { RoundsContext } from '../../../context.ts'
import type { Pace } from '../../../hooks.ts'
import type { SessionDocument } from '../../../storage/sessions-store.ts'
import { earlyStart, latestEarlierStart } from '../rules/pace.ts'
import type { PacesStore } from '../storage/paces-store.ts'

/**
 * Spaces a player's game starts over all games, sessions and replicas, by the database's time. Source:
 * docs/contract.md, section 4, "Jurisdictions".
 */
export function enforceStartInterval(
  { paces, clock, clockOffsetMs }: Pick<RoundsContext, 'clock' | 'clockOffsetMs'> & { paces: PacesStore },
  scope: Scope,
  session: Pick<SessionDocument, 'playerId' | 'jurisdiction'>,
  startedBy: string,
): Pace | null {
  const { startGapS: gapS } = profileOf(session)
  if (gapS === null) return null
  const { playerId } = session
  const onDatabase = (time: Date) => new Date(time.getTime() - clockOffsetMs())
  return {
    start(at) {
      const start = { startedAt: onDatabase(clock.now()), startedBy }
      const madeAt = onDatabase(at)
      return paces.start(scope, playerId, start, { madeAt, notAfter: latestEarlierStart(madeAt, gapS) })
    },
    early: async () =>
      earlyStart(await paces.last(scope, playerId), { startedBy, gapS }, onDatabase(clock.now())),
  }
}
