import type { ErrorCode } from '@pitboss/errors/catalogue'
import type { Clock } from '@pitboss/runtime/clock'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Logger } from 'pino'
import type { WalletClient } from '../clients/wallet.ts'
import type { Catalogue } from '../rules/catalogue.ts'
import type { RoundState } from '../rules/round.ts'
import type { CommitmentsStore } from '../storage/commitments-store.ts'
import type { GamesStore } from '../storage/games-store.ts'
import type { GrantsStore } from '../storage/grants-store.ts'
import type { KeysStore } from '../storage/keys-store.ts'
import type { RefusalsStore } from '../storage/refusals-store.ts'
import type { ReportsStore } from '../storage/reports-store.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { SessionsStore } from '../storage/sessions-store.ts'
import type { AdmitPlay } from './admit-play.ts'
import type { GameAccess } from './games.ts'
import type { DeadIds } from './dead-ids.ts'
import type { HoldLimits } from './hold-limits.ts'
import type { HoldPace } from './hold-pace.ts'
import type { JoinMovement } from './join-movement.ts'
import type { OpenIntent } from './open-intent.ts'
import type { PlaceStake } from './place-stake.ts'
import type { RoundActor } from './round-actor.ts'
import type { SettleRound, VoidStake } from './settle-round.ts'

/** The parts that actions are made of; each picks those that it works with. */
export type Parts = {
  readonly rounds: RoundsStore
  readonly refusals: RefusalsStore
  readonly commitments: CommitmentsStore
  readonly sessions: Omit<SessionsStore, 'collection'>
  readonly grants: Pick<GrantsStore, 'open' | 'use' | 'giveBack'>
  readonly games: GamesStore
  readonly reports: ReportsStore
  readonly keys: KeysStore
  readonly wallet: WalletClient
  readonly catalogue: Catalogue
  readonly cursors: CursorCodec
  readonly audit: Pick<AuditOutbox, 'entry' | 'store'>
  readonly access: GameAccess
  readonly admitPlay: AdmitPlay
  readonly actor: RoundActor
  readonly intents: OpenIntent
  readonly deadIds: DeadIds
  readonly holdPace: HoldPace
  readonly holdLimits: HoldLimits
  readonly placeStake: PlaceStake
  readonly joinMovement: JoinMovement
  /** Told of a request whose id belongs to a round of the other driver. */
  readonly noteConflict: (round: RoundState, transactionId: string) => void
  /** Told of a movement that a round owes and that wallet-bridge refuses: a person has to end it. */
  readonly noteRefusedSettlement: (round: RoundState, transactionId: string, code: ErrorCode) => void
  readonly settleRound: SettleRound
  readonly voidStake: VoidStake
  readonly clock: Clock
  readonly newId: (prefix: string) => string
  readonly newUuid: () => string
  /** Shortens times of abandonment alone. */
  readonly scaleMs: (ms: number) => number
  readonly logger: Logger
}
