import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import { resourceOf, unknownOutcome } from '../rules/movement.ts'
import type { RoundMessage } from '../rules/round-message.ts'
import { openMovementIds, type RoundState } from '../rules/round.ts'
import { findPlayer, findPlayerRound } from './find-player.ts'
import type { Parts } from './parts.ts'
import { showFirst } from './show-first.ts'

type Acting = Pick<Parts, 'sessions' | 'rounds' | 'actor' | 'settleRound'>
type PlayerAction = Extract<RoundMessage, { type: 'reveal' | 'cash-out' }>

/**
 * Opens a tile of a player's round or cashes it out, and settles the round if it is over. Any session of the
 * same player and game may do so, a closed one, too. Source: docs/contract.md, section 11, "Play".
 * @throws ServiceError SESSION_NOT_FOUND, ROUND_NOT_FOUND, and the refusals of the rules
 */
export async function actOnRound(
  context: Acting,
  caller: Caller,
  roundId: string,
  action: PlayerAction,
  call: HandlerContext,
): Promise<RoundState> {
  return showFirst(
    context.rounds,
    ({ id }) => id,
    () => act(context, caller, roundId, action, call),
  )
}

async function act(
  context: Acting,
  caller: Caller,
  roundId: string,
  action: PlayerAction,
  call: HandlerContext,
): Promise<RoundState> {
  const stored = await findPlayerRound(context, await findPlayer(context, caller), roundId)
  const acted = await context.actor.send(stored, action)
  const { round } = await context.settleRound(acted, { recover: false, context: call })
  const [owed] = openMovementIds(round)
  if (call.atOnce === true && owed !== undefined) throw unknownOutcome(resourceOf(round, owed))
  return round
}
