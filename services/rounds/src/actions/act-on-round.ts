import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { RoundMessage } from '../rules/round-message.ts'
import type { RoundState } from '../rules/round.ts'
import type { PlayerAccess } from './player-session.ts'
import type { RoundActor } from './round-actor.ts'
import type { SettleRound } from './settle-round.ts'

type PlayerAction = Extract<RoundMessage, { type: 'reveal' | 'cash-out' }>

export type ActOnRound = (
  caller: Caller,
  roundId: string,
  action: PlayerAction,
  context: HandlerContext,
) => Promise<RoundState>

/**
 * Opens a tile of a player's round or cashes it out, and settles the round if it is over. Any session of the
 * same player and game may do so, a closed one, too. Source: docs/contract.md, section 11, "Play".
 * @throws ServiceError SESSION_NOT_FOUND, ROUND_NOT_FOUND, and the refusals of the rules
 */
export function createActOnRound({
  players,
  actor,
  settleRound,
}: {
  players: PlayerAccess
  actor: Pick<RoundActor, 'send'>
  settleRound: SettleRound
}): ActOnRound {
  return async function actOnRound(caller, roundId, action, context) {
    const stored = await players.round(await players.player(caller), roundId)
    const acted = await actor.send(stored, action)
    return (await settleRound(acted, { recover: false, context })).round
  }
}
