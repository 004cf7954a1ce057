import type { ActedBy } from '@pitboss/contracts/audit'
import type { ErrorCode } from '@pitboss/errors/catalogue'
import type { Bus } from '@pitboss/bus/connect-bus'
import type { Scope } from '@pitboss/contracts/caller'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Clock } from '@pitboss/runtime/clock'
import { createMailbox } from '@pitboss/runtime/mailbox'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { IdempotencyKeys } from '@pitboss/storage/idempotency-keys'
import type { Logger } from 'pino'
import type { PlayerSession } from '@pitboss/contracts/endpoints/play'
import type { ServiceError } from '@pitboss/errors/service-error'
import type { Shown, WalletClient } from './clients/wallet.ts'
import type { Catalogue } from './rules/catalogue.ts'
import type { RoundState, Stake } from './rules/round.ts'
import type { transition } from './rules/transition.ts'
import type { CommitmentsStore } from './storage/commitments-store.ts'
import type { GamesStore } from './storage/games-store.ts'
import type { GrantsStore } from './storage/grants-store.ts'
import type { LostRounds } from './storage/lost-rounds.ts'
import type { FactFold } from './storage/rounds-journal.ts'
import type { RoundsStore } from './storage/rounds-store.ts'
import type { SessionDocument, SessionsStore } from './storage/sessions-store.ts'

export type RoundsContext = {
  readonly rounds: RoundsStore
  readonly commitments: CommitmentsStore
  /** For the time after the database was restored. */
  readonly lost: LostRounds
  readonly sessions: Omit<SessionsStore, 'show'>
  readonly grants: GrantsStore
  readonly games: GamesStore
  readonly keys: Pick<IdempotencyKeys, 'find' | 'claim'>
  /** Counts what entries of all processes have not counted yet. */
  readonly sums: { catchUp(): Promise<void> }
  readonly bus: Pick<Bus, 'call'>
  readonly wallet: WalletClient
  readonly catalogue: Catalogue
  readonly rules: typeof transition
  readonly hooks: Hooks
  readonly cursors: CursorCodec
  readonly audit: Pick<AuditOutbox, 'entry' | 'store'>
  /** Counts a request whose id belongs to a round of the other driver. */
  readonly noteConflict: (round: RoundState, transactionId: string) => void
  /** Counts a movement that a round owes and that wallet-bridge refuses: a person has to end it. */
  readonly noteRefusedSettlement: (round: RoundState, transactionId: string, code: ErrorCode) => void
  readonly clock: Clock
  /** Milliseconds by which `clock` is ahead of the database's. */
  readonly clockOffsetMs: () => number
  readonly newId: (prefix: string) => string
  readonly newUuid: () => string
  /** Shortens times of abandonment only. */
  readonly scaleMs: (ms: number) => number
  readonly logger: Logger
}

/** When an act happens, and the person who is audited for it; null for an operator's server. */
export type Acting = { readonly now: Date; readonly by: ActedBy | null }

/** What play, settlement and recovery work with: of the context, and of this process. */
export type PlayContext = Omit<RoundsContext, NotPlayed | 'sessions' | 'grants' | 'games' | 'hooks'> & {
  readonly sessions: Pick<RoundsContext['sessions'], 'find'>
  readonly grants: Pick<GrantsStore, 'open' | 'use' | 'giveBack'>
  readonly games: Pick<GamesStore, 'copy'>
  readonly hooks: Pick<Hooks, 'assertWithinLimits' | 'chargeStake' | 'enforceStartInterval'>
  /** Called before a new intent is stored. @throws ServiceError SERVICE_UNAVAILABLE while new play yields */
  readonly admitPlay: (scope: Scope) => void
  /** Until then no round counts as left by its player. */
  readonly leftFrom: Date | null
  readonly wait: (ms: number) => Promise<unknown>
  readonly memory: PlayMemory
}
type NotPlayed = 'lost' | 'keys' | 'sums' | 'bus' | 'cursors' | 'audit' | 'clockOffsetMs'

const changesMax = 10_000

export class PlayMemory {
  /** Runs the changes of one round one at a time in this process. */
  readonly inTurn = createMailbox()
  readonly changes = new BoundedMap<string, Date>(changesMax)
  /** By movement: repeats that wait for it together, repeats that ask once, and the last answer. */
  readonly polls = new Map<string, Promise<Shown>>()
  readonly looks = new Map<string, Promise<Shown>>()
  readonly seen = new Map<string, Shown>()
}

export type Pace = {
  /** Records the start of a round made at `madeAt`, once per request; false when it comes too early. */
  start(madeAt: Date): Promise<boolean>
  /** The refusal RATE_LIMITED of a start now; null when it may happen. */
  early(): Promise<ServiceError | null>
}

/** Only stakes of a player who has, or once had, limits are counted. */
export type Limited = Pick<SessionDocument, 'playerId' | 'currency' | 'limited'>
export type Paced = Pick<SessionDocument, 'playerId' | 'jurisdiction'>

export type Hooks = {
  /**
   * Refuses a stake before anything is stored for it. @param minor 0 for a free bet, which only a limit of
   * time refuses @throws ServiceError BET_LIMIT_EXCEEDED naming the limit
   */
  assertWithinLimits(scope: Scope, session: Limited, minor: bigint): Promise<void>
  /** Counts a stake between its intent and the wallet. @returns its refusal; null for one that counts now */
  chargeStake(round: RoundState, stake: Stake): Promise<ServiceError | null>
  /** Answers null for a session whose jurisdiction does not space game starts. */
  enforceStartInterval(scope: Scope, session: Paced, startedBy: string): Pace | null
  /** Refuses a session before it is stored. @throws ServiceError */
  beforeSession(scope: Scope, playerId: string): Promise<void>
  /** Acts on a session before it is answered. @param isNew false for a repeat. @throws ServiceError */
  afterSession(session: SessionDocument, isNew: boolean): Promise<void>
  /** Reads what a page shows of a session beside the session itself. */
  sessionFields(session: SessionDocument, now: Date): Promise<Pick<PlayerSession, 'protection'>>
  readonly folds: readonly FactFold[]
  readonly playerData: PlayerData
}

export type PlayerData = Readonly<
  Record<'stop' | 'limits', (scope: Scope, playerId: string, before: string | null) => Promise<DataPage>>
>

/** A page of records of a player, newest first, and where the next one begins; null for the last. */
export type DataPage = { readonly data: Record<string, unknown>[]; readonly next: string | null }
