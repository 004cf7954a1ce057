import type { RoundsContext } from '../context.ts'
import type { Hooks } from '../hooks.ts'
import type { GrantsStore } from '../storage/grants-store.ts'
import type { AdmitPlay } from './admit-play.ts'
import type { DeadIds } from './dead-ids.ts'
import type { GameAccess } from './games.ts'
import type { JoinMovement } from './join-movement.ts'
import type { OpenIntent } from './open-intent.ts'
import type { PlaceStake } from './place-stake.ts'
import type { RoundActor } from './round-actor.ts'
import type { SettleRound, VoidStake } from './settle-round.ts'

/** The context with the actions that are still made by factories; each of those picks what it works with. */
export type Parts = Omit<RoundsContext, 'grants' | 'hooks'> &
  Hooks & {
    readonly grants: Pick<GrantsStore, 'open' | 'use' | 'giveBack'>
    readonly access: GameAccess
    readonly admitPlay: AdmitPlay
    readonly actor: RoundActor
    readonly intents: OpenIntent
    readonly deadIds: DeadIds
    readonly placeStake: PlaceStake
    readonly joinMovement: JoinMovement
    readonly settleRound: SettleRound
    readonly voidStake: VoidStake
  }
