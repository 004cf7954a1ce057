import type { Bus } from '@pitboss/bus/connect-bus'
import { opsHealMovements } from '@pitboss/contracts/calls/wallet-ops'
import { opsEventsOfRound } from '@pitboss/contracts/calls/webhooks'
import type { Scope } from '@pitboss/contracts/caller'
import { toldWin } from '@pitboss/contracts/told-win'
import type { OpsRun } from './ops-run.ts'

/**
 * Writes the wins that events tell of a game round, where wallet-bridge has lost them. Asked for again, they
 * would have other references, and a wallet that paid them may refuse those as other movements.
 */
export async function writeToldWins(
  bus: Bus,
  { order, scope, roundId, game }: { order: OpsRun['order']; scope: Scope; roundId: string; game: string },
): Promise<void> {
  const { data } = await bus.call(opsEventsOfRound, { roundId })
  const movements = data.flatMap(({ event }) => toldWin(event, game) ?? [])
  if (movements.length > 0) await bus.call(opsHealMovements, { order, scope, movements })
}
