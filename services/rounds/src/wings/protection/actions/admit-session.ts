import type { Scope } from '@pitboss/contracts/caller'
import { playerStopped } from '../../../rules/live-rules.ts'
import type { SessionDocument } from '../../../storage/sessions-store.ts'
import type { ProtectionContext } from '../context.ts'
import { stopStatusAt } from '../rules/stop.ts'
import type { StopDocument } from '../storage/stops-store.ts'

/** Refuses a session of a player who is stopped. @throws ServiceError PLAYER_BLOCKED */
export async function beforeSession(
  context: ProtectionContext,
  scope: Scope,
  playerId: string,
): Promise<void> {
  const stop = await stopInForce(context, scope, playerId)
  if (stop !== null) throw playerStopped(stop.endsAt)
}

/**
 * Marks a session that is about to be answered if its player has limits. Whoever sets the first ones looks at
 * the sessions that are there; so no session is answered whose stakes would not be counted. A new one is
 * closed for a stop that began meanwhile, which may have looked at the player's sessions before it was there.
 * @throws ServiceError PLAYER_BLOCKED
 */
export async function afterSession(
  context: ProtectionContext,
  session: SessionDocument,
  isNew: boolean,
): Promise<void> {
  const { sessions, playerLimits, clock } = context
  const { operatorId, environment, playerId } = session
  const scope = { operatorId, environment }
  const stop = isNew ? await stopInForce(context, scope, playerId) : null
  if (stop !== null) {
    await sessions.stopAll(scope, playerId, { id: stop._id, endsAt: stop.endsAt }, clock.now())
    throw playerStopped(stop.endsAt)
  }
  if (session.limited !== true && (await playerLimits.exists(scope, playerId))) {
    await sessions.markLimited(scope, playerId, clock.now())
  }
}

/** Finds the stop that refuses new play of the player now; null for none. */
export async function stopInForce(
  { stops, clock }: Pick<ProtectionContext, 'stops' | 'clock'>,
  scope: Scope,
  playerId: string,
): Promise<StopDocument | null> {
  const current = await stops.current(scope, playerId)
  return current !== null && stopStatusAt(current, clock.now()) === 'IN_FORCE' ? current : null
}
