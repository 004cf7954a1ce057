import type { Scope } from '@pitboss/contracts/caller'
import type { PlayerSession } from '@pitboss/contracts/endpoints/play'
import type { ServiceError } from '@pitboss/errors/service-error'
import type { RoundState, Stake } from './rules/round.ts'
import type { FactFold } from './storage/counted-entries.ts'
import type { SessionDocument } from './storage/sessions-store.ts'

/** The limits of one player, as the request of a stake sees them. */
export type PlayerHold = {
  /**
   * Refuses a stake before anything is stored for it. @param minor 0 for a free bet, which only a limit of
   * time refuses @throws ServiceError BET_LIMIT_EXCEEDED naming the limit
   */
  assertWithinLimits(minor: bigint): Promise<void>
  /**
   * Counts a stake after its intent is stored and before any process may ask the wallet for it.
   * @returns its refusal; null for one that counts now
   */
  charge(round: RoundState, stake: Stake): Promise<ServiceError | null>
}

/** The game starts of one player, as one request sees them. */
export type Pace = {
  /** Records the start of a round made at `madeAt`, once per request; false when it comes too early. */
  start(madeAt: Date): Promise<boolean>
  /** The refusal RATE_LIMITED of a start now; null when it may happen. */
  early(): Promise<ServiceError | null>
}

/** The places of the core at which wings act. */
export type Hooks = {
  /** Answers null for a session of a player who never had limits: nothing is read or written then. */
  enforceLimits(
    scope: Scope,
    session: Pick<SessionDocument, 'playerId' | 'currency' | 'limited'>,
  ): PlayerHold | null
  /** Answers null for a session whose jurisdiction does not space game starts. */
  enforceStartInterval(
    scope: Scope,
    session: Pick<SessionDocument, 'playerId' | 'jurisdiction'>,
    startedBy: string,
  ): Pace | null
  /** Refuses a session before it is stored. @throws ServiceError */
  beforeSession(scope: Scope, playerId: string): Promise<void>
  /** Acts on a session before it is answered. @param isNew false for a repeat. @throws ServiceError */
  afterSession(session: SessionDocument, isNew: boolean): Promise<void>
  /** Reads what a page shows of a session beside the session itself. */
  sessionFields(session: SessionDocument, now: Date): Promise<Pick<PlayerSession, 'protection'>>
  readonly folds: readonly FactFold[]
  readonly playerData: PlayerData
}

/** Reads by the kind of a player's records, newest first. */
export type PlayerData = Readonly<
  Record<'stop' | 'limits', (scope: Scope, playerId: string, before: string | null) => Promise<DataPage>>
>

/** A page of records of a player, newest first, and where the next one begins; null for the last. */
export type DataPage = { readonly data: Record<string, unknown>[]; readonly next: string | null }
