import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { PlayContext } from '../context.ts'
import { resourceOf, unknownOutcome } from '../rules/movement.ts'
import type { PlayerAction } from '../rules/round-message.ts'
import { openMovementIds, type RoundState } from '../rules/round.ts'
import { applyMessage } from './change-round.ts'
import { findPlayer, findPlayerRound } from './find-player.ts'
import { settleRound } from './settle-round.ts'

/**
 * Opens a tile of a player's round or cashes it out, and settles the round if it is over. Any session of the
 * same player and game may do so, a closed one, too. Source: docs/contract.md, section 11, "Play".
 * @throws ServiceError SESSION_NOT_FOUND, ROUND_NOT_FOUND, and the refusals of the rules
 */
export async function actOnRound(
  context: PlayContext,
  caller: Caller,
  roundId: string,
  action: PlayerAction,
  call: HandlerContext,
): Promise<RoundState> {
  const stored = await findPlayerRound(context, await findPlayer(context, caller), roundId)
  const acted = await applyMessage(context, stored, action)
  const { round } = await settleRound(context, acted, { recover: false, call })
  const [owed] = openMovementIds(round)
  if (call.atOnce === true && owed !== undefined) throw unknownOutcome(resourceOf(round, owed))
  return round
}
