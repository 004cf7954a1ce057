import type { ErrorCode } from '@pitboss/errors/catalogue'
import type { Bus } from '@pitboss/bus/connect-bus'
import type { Scope } from '@pitboss/contracts/caller'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Clock } from '@pitboss/runtime/clock'
import { createMailbox } from '@pitboss/runtime/mailbox'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Outbox } from '@pitboss/storage/outbox'
import type { Logger } from 'pino'
import type { Shown, WalletClient } from './clients/wallet.ts'
import type { Hooks } from './hooks.ts'
import type { Catalogue } from './rules/catalogue.ts'
import type { RoundState } from './rules/round.ts'
import type { transition } from './rules/transition.ts'
import type { CommitmentsStore } from './storage/commitments-store.ts'
import type { DeadRequestsStore } from './storage/dead-requests.ts'
import type { GamesStore } from './storage/games-store.ts'
import type { GrantsStore } from './storage/grants-store.ts'
import type { KeysStore } from './storage/keys-store.ts'
import type { LostRounds } from './storage/lost-rounds.ts'
import type { RoundsStore } from './storage/rounds-store.ts'
import type { SessionsStore } from './storage/sessions-store.ts'

export type RoundsContext = {
  readonly rounds: RoundsStore
  readonly commitments: CommitmentsStore
  readonly deadRequests: DeadRequestsStore
  /** For the time after the database was restored. */
  readonly lost: LostRounds
  readonly sessions: Omit<SessionsStore, 'collection'>
  readonly grants: GrantsStore
  readonly games: GamesStore
  readonly keys: KeysStore
  /** Counts what entries of all processes have not counted yet. */
  readonly sums: { catchUp(): Promise<void> }
  readonly bus: Pick<Bus, 'call'>
  readonly wallet: WalletClient
  readonly catalogue: Catalogue
  readonly rules: typeof transition
  readonly hooks: Hooks
  readonly cursors: CursorCodec
  readonly audit: Pick<AuditOutbox, 'entry' | 'store'>
  readonly sessionOutbox: Pick<Outbox, 'relay'>
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

/** What play, settlement and recovery work with: of the context, and of this process. */
export type PlayContext = Omit<RoundsContext, NotPlayed | 'sessions' | 'grants' | 'games' | 'hooks'> & {
  readonly sessions: Pick<RoundsContext['sessions'], 'find'>
  readonly grants: Pick<GrantsStore, 'open' | 'use' | 'giveBack'>
  readonly games: Pick<GamesStore, 'copy'>
  readonly hooks: Pick<Hooks, 'enforceLimits' | 'enforceStartInterval'>
  /** Called before a new intent is stored. @throws ServiceError SERVICE_UNAVAILABLE while new play yields */
  readonly admitPlay: (scope: Scope) => void
  /** Until then no round counts as left by its player. */
  readonly leftFrom: Date | null
  readonly wait: (ms: number) => Promise<unknown>
  readonly memory: PlayMemory
}
type NotPlayed = 'lost' | 'keys' | 'sums' | 'bus' | 'cursors' | 'audit' | 'sessionOutbox' | 'clockOffsetMs'

const changesMax = 10_000

export class PlayMemory {
  /** Runs the changes of one round one at a time in this process. */
  readonly inTurn = createMailbox()
  /** When this process has changed a round last. */
  readonly changes = new BoundedMap<string, Date>(changesMax)
  /** By movement: repeats that wait for it together, repeats that ask once, and the last answer. */
  readonly polls = new Map<string, Promise<Shown>>()
  readonly looks = new Map<string, Promise<Shown>>()
  readonly seen = new Map<string, Shown>()
}
