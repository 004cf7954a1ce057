import { createMailbox } from '@pitboss/runtime/mailbox'
import type { RoundsContext } from '../context.ts'
import type { AdmitPlay } from './admit-play.ts'
import { createDeadIds } from './dead-ids.ts'
import { findPlayer } from './find-player.ts'
import { createJoinMovement } from './join-movement.ts'
import { findGame, readOfferedGame } from './offered-game.ts'
import { createOpenIntent } from './open-intent.ts'
import type { Parts } from './parts.ts'
import { createPlaceStake } from './place-stake.ts'
import { createRoundActor } from './round-actor.ts'
import { createSettleRound } from './settle-round.ts'

type Given = RoundsContext & {
  readonly admitPlay: AdmitPlay
  /** A simulation waits in a time of its own. */
  readonly wait?: (ms: number) => Promise<unknown>
}

/** Makes the parts that the actions of play, settlement and recovery share. */
export function createPlay(context: Given): RoundsContext & Parts {
  const actor = createRoundActor({ ...context, mailbox: createMailbox() })
  const acting = {
    ...context,
    ...{ actor, deadIds: createDeadIds(context) },
    holdLimits: context.hooks.holdLimits,
    holdPace: context.hooks.holdPace,
    players: { player: (caller) => findPlayer(context, caller) },
    access: {
      find: (slug) => findGame(context, slug),
      offered: (operatorId, slug) => readOfferedGame(context, operatorId, slug),
    },
  } satisfies Partial<Parts>
  return {
    ...acting,
    ...createSettleRound(acting),
    intents: createOpenIntent(acting),
    placeStake: createPlaceStake(acting),
    joinMovement: createJoinMovement(acting),
  }
}
