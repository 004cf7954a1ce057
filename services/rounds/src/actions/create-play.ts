import { createMailbox } from '@pitboss/runtime/mailbox'
import type { RoundsContext } from '../context.ts'
import type { AdmitPlay } from './admit-play.ts'
import { type CommitAhead, createCommitAhead } from './commit-ahead.ts'
import { createDeadIds } from './dead-ids.ts'
import { createGameAccess } from './games.ts'
import { createJoinMovement } from './join-movement.ts'
import { createOpenIntent } from './open-intent.ts'
import type { Parts } from './parts.ts'
import { createPlaceStake } from './place-stake.ts'
import { createPlayerAccess, type PlayerAccess } from './player.ts'
import { createRoundActor } from './round-actor.ts'
import { createSettleRound } from './settle-round.ts'

/**
 * Makes the parts that the actions of play, settlement and recovery share. `ahead` makes commitments behind
 * the answer of a request, until it is stopped.
 */
export function createPlay(given: RoundsContext & { admitPlay: AdmitPlay }): {
  parts: Parts & { players: PlayerAccess }
  ahead: CommitAhead
} {
  const ahead = createCommitAhead(given)
  const actor = createRoundActor({ ...given, ahead, outbox: given.roundOutbox, mailbox: createMailbox() })
  const deadIds = createDeadIds({ ...given, deadIds: given.deadIdsStore })
  const acting = {
    ...given,
    ...given.hooks,
    actor,
    deadIds,
    access: createGameAccess(given),
    players: createPlayerAccess(given),
  }
  const parts = {
    ...acting,
    ...createSettleRound(acting),
    intents: createOpenIntent(acting),
    placeStake: createPlaceStake(acting),
    joinMovement: createJoinMovement(acting),
  }
  return { parts, ahead }
}
