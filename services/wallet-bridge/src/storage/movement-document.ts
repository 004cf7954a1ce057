import type { Scope } from '@pitboss/contracts/caller'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { LookReason } from '../rules/flags.ts'
import type { MovementState, UnreadableField, WalletOperation } from '../rules/movement.ts'

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
  readonly unreadable?: readonly UnreadableField[]
  /** First 4 KiB of the answer. */
  readonly responseExcerpt: string | null
  readonly nextAttemptAt: Date | null
  /** When its write was made up: figures count it in that minute. Earlier releases stored none. */
  readonly storedAt?: Date
}

/** The part of a movement that never changes. `amount` has all decimals of its currency. */
export type MovementFacts = Omit<MovementSpec, 'type' | 'callWallet'> &
  Scope & {
    readonly walletKey: string
    /** `txn_…`, made here. It sorts by time, so lists page by it. */
    readonly reference: string
    /** To which its calls and its reversal's go. Movements of earlier builds have none. */
    readonly walletUrl?: string
    /** Of a game's stake: a credit of zero closes its round when it loses. Absent where none does. */
    readonly settleLosses?: 'zero_credit'
    /** Of the span that made it, where traces are recorded: later tries go on with the same trace. */
    readonly traceparent?: string
    /** The exact body of every call of this movement. */
    readonly body: string
  }

/** A movement as the entries of its round's money make it, and as lists show it. */
export type MovementDocument = MovementFacts &
  MovementState & {
    /** `<walletKey>/<transaction id>` */
    readonly _id: string
    /** Number of the entry that changed it last, which fences its next change; 0 before its first. */
    readonly n: number
    /** That entry's own write. */
    readonly w: string
    /** The latest 200. */
    readonly attempts: readonly AttemptRecord[]
    /** `storedAt` of the latest attempt. Earlier releases stored none. */
    readonly attemptedAt?: Date
    /** Why flags are to be raised for it. */
    readonly lookFor?: readonly LookReason[]
  }
