import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { Scope } from '@pitboss/contracts/caller'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Versioned } from '@pitboss/storage/change-fenced'
import { outboxIndex } from '@pitboss/storage/outbox'
import type { WithOutbox } from '@pitboss/storage/outbox-entry'
import type { MovementState, WalletOperation } from '../rules/movement.ts'

/** The record of one wallet call: the request without its signature, the answer, and the judgement. */
export type AttemptRecord = {
  readonly attempt: number
  readonly operation: WalletOperation
  readonly sentAt: Date
  readonly latencyMs: number | null
  readonly request: { readonly url: string; readonly timestamp: string; readonly requestId: string } | null
  readonly httpStatus: number | null
  readonly walletCode: string | null
  readonly classification: 'SUCCESS' | 'REFUSED' | 'UNKNOWN'
  readonly error: string | null
  /** First 4 KiB of the answer. */
  readonly responseExcerpt: string | null
  readonly nextAttemptAt: Date | null
}

/** The part of a movement that never changes. `amount` has all decimals of its currency. */
export type MovementFacts = Omit<MovementSpec, 'type' | 'callWallet'> & {
  readonly operatorId: string
  readonly environment: Scope['environment']
  readonly walletKey: string
  /** `txn_…`, made here. It sorts by time, so lists page by it. */
  readonly reference: string
  /**
   * The wallet's url when the movement was stored, to which its calls and its reversal's go. Movements of
   * earlier builds have none.
   */
  readonly walletUrl?: string
  /** The exact body of every call of this movement. */
  readonly body: string
}

export type MovementDocument = Versioned &
  WithOutbox &
  MovementFacts &
  MovementState & {
    /** Set while a call is in flight, and unique: a round has one call at a time. */
    readonly callingRound: string | null
    /** The latest 200. */
    readonly attempts: AttemptRecord[]
  }

export const movementIndexes: Readonly<Record<'movements', readonly IndexDeclaration[]>> = {
  movements: [
    { key: { walletKey: 1, reference: 1 }, name: 'wallet_reference', unique: true },
    { key: { walletKey: 1, playerId: 1, reference: 1 }, name: 'player' },
    { key: { roundId: 1 }, name: 'round' },
    { key: { sessionId: 1 }, name: 'session' },
    {
      key: { callingRound: 1 },
      name: 'calling_round',
      unique: true,
      partialFilterExpression: { callingRound: { $gt: '' } },
    },
    {
      key: { walletKey: 1, dueAt: 1 },
      name: 'due',
      partialFilterExpression: { dueAt: { $gt: new Date(0) } },
    },
    { key: { reference: 1 }, name: 'pending', partialFilterExpression: { status: 'PENDING' } },
    // Every status but SUCCESS, and every type but BET and WIN: few of very many.
    {
      key: { walletKey: 1, status: 1, reference: 1 },
      name: 'rare_status',
      partialFilterExpression: { status: { $lt: 'SUCCESS' } },
    },
    {
      key: { walletKey: 1, type: 1, reference: 1 },
      name: 'rare_type',
      partialFilterExpression: { type: { $gt: 'BET', $lt: 'WIN' } },
    },
    outboxIndex,
  ],
}
