import type { Outbox } from '@pitboss/storage/outbox'
import { createMailbox } from '@pitboss/runtime/mailbox'
import type { transition } from '../rules/transition.ts'
import type { DeadIdsStore } from '../storage/dead-ids-store.ts'
import type { PacesStore } from '../storage/paces-store.ts'
import type { PlayerLimitsStore } from '../storage/player-limits-store.ts'
import { type CommitAhead, createCommitAhead } from './commit-ahead.ts'
import { createDeadIds } from './dead-ids.ts'
import { createGameAccess } from './games.ts'
import { createHoldLimits, type ReadLimits } from './hold-limits.ts'
import { createHoldPace } from './hold-pace.ts'
import { createJoinMovement } from './join-movement.ts'
import { createOpenIntent } from './open-intent.ts'
import type { Parts } from './parts.ts'
import { createPlaceStake } from './place-stake.ts'
import { createPlayerAccess, type PlayerAccess } from './player.ts'
import { createRoundActor } from './round-actor.ts'
import { createSettleRound } from './settle-round.ts'

type Made =
  | 'access'
  | 'actor'
  | 'intents'
  | 'deadIds'
  | 'holdPace'
  | 'holdLimits'
  | 'placeStake'
  | 'joinMovement'
  | 'settleRound'
  | 'voidStake'
type Given = Omit<Parts, Made> & {
  roundOutbox: Outbox
  rules: typeof transition
  paces: PacesStore
  deadIdsStore: DeadIdsStore
  playerLimits: PlayerLimitsStore
  reading: ReadLimits
  /** Milliseconds by which `clock` is ahead of the database's. */
  clockOffsetMs: () => number
}

/**
 * Makes the parts that the actions of play, settlement and recovery share. `ahead` makes commitments behind
 * the answer of a request, until it is stopped.
 */
export function createPlay(given: Given): {
  parts: Parts & { players: PlayerAccess }
  ahead: CommitAhead
} {
  const ahead = createCommitAhead(given)
  const actor = createRoundActor({ ...given, ahead, outbox: given.roundOutbox, mailbox: createMailbox() })
  const deadIds = createDeadIds({ ...given, deadIds: given.deadIdsStore })
  const acting = {
    ...given,
    actor,
    deadIds,
    access: createGameAccess(given),
    players: createPlayerAccess(given),
  }
  const parts = {
    ...acting,
    ...createSettleRound(acting),
    intents: createOpenIntent(acting),
    holdPace: createHoldPace(given),
    holdLimits: createHoldLimits(given),
    placeStake: createPlaceStake(acting),
    joinMovement: createJoinMovement(acting),
  }
  return { parts, ahead }
}
