import type { Caller } from '@pitboss/contracts/caller'
import type { RoundsContext } from '../context.ts'
import type { Hooks } from '../hooks.ts'
import type { CatalogueEntry } from '../rules/catalogue.ts'
import type { GrantsStore } from '../storage/grants-store.ts'
import type { AdmitPlay } from './admit-play.ts'
import type { DeadIds } from './dead-ids.ts'
import type { Player } from './find-player.ts'
import type { JoinMovement } from './join-movement.ts'
import type { OfferedGame } from './offered-game.ts'
import type { OpenIntent } from './open-intent.ts'
import type { PlaceStake } from './place-stake.ts'
import type { RoundActor } from './round-actor.ts'
import type { SettleRound, VoidStake } from './settle-round.ts'

/** `findGame` and `readOfferedGame`, for factories. */
export type GameAccess = {
  find(slug: string): CatalogueEntry
  offered(operatorId: string, slug: string): Promise<OfferedGame>
}

/** `findPlayer`, for factories. */
export type PlayerAccess = { player(caller: Caller): Promise<Player> }

/** The context with the actions that are still made by factories; each of those picks what it works with. */
export type Parts = Omit<RoundsContext, 'grants' | 'hooks'> &
  Pick<Hooks, 'holdLimits' | 'holdPace'> & {
    readonly grants: Pick<GrantsStore, 'open' | 'use' | 'giveBack'>
    readonly access: GameAccess
    readonly players: PlayerAccess
    readonly admitPlay: AdmitPlay
    readonly actor: RoundActor
    readonly intents: OpenIntent
    readonly deadIds: DeadIds
    readonly placeStake: PlaceStake
    readonly joinMovement: JoinMovement
    readonly settleRound: SettleRound
    readonly voidStake: VoidStake
  }
