import type { Scope } from '@pitboss/contracts/caller'
import type { ProtectionContext } from '../context.ts'
import { stopStatusAt } from '../rules/stop.ts'
import type { StopDocument } from '../storage/stops-store.ts'

/** Finds the stop that refuses new play of the player now; null for none. */
export async function stopInForce(
  { stops, clock }: Pick<ProtectionContext, 'stops' | 'clock'>,
  scope: Scope,
  playerId: string,
): Promise<StopDocument | null> {
  const current = await stops.current(scope, playerId)
  return current !== null && stopStatusAt(current, clock.now()) === 'IN_FORCE' ? current : null
}
