/** The state of a movement and the messages that change it. Pure data; the rules are in `advance-movement.ts`. */

export type MovementType = 'BET' | 'WIN' | 'REFUND' | 'ROLLBACK'
export type MovementStatus = 'PENDING' | 'SUCCESS' | 'FAILED' | 'REFUNDED' | 'ROLLED_BACK'
export type WalletOperation = 'debit' | 'credit' | 'rollback'

/** What the caller is told while the outcome is unknown. */
export type PendingCode = 'WALLET_TIMEOUT' | 'WALLET_UNAVAILABLE'

/** What the caller is told when the wallet said no for certain. */
export type RefusalCode =
  | 'INSUFFICIENT_FUNDS'
  | 'PLAYER_BLOCKED'
  | 'BET_LIMIT_EXCEEDED'
  | 'CURRENCY_MISMATCH'
  | 'WALLET_REJECTED'

/** How a wallet's answer to one call is judged. Source: contract section 6. */
export type Judgement =
  | {
      readonly kind: 'success'
      readonly walletCode: string
      readonly walletTransactionId: string | null
      readonly balanceAfter: string | null
    }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly walletCode: string }
  /** A debit whose rollback came first: the wallet will never take it. */
  | { readonly kind: 'rolled-back'; readonly walletCode: string }
  | {
      readonly kind: 'unknown'
      readonly code: PendingCode
      readonly walletCode: string | null
      readonly reason: string
    }

/** A wallet call in flight. Its holder may write the result; when `until` has passed, anybody may call it lost. */
export type WalletCall = {
  readonly token: string
  /** 1-based. */
  readonly attempt: number
  readonly startedAt: Date
  readonly until: Date
}

/** Identity of a movement about to be made, chosen outside. */
export type FreshMovement = { readonly transactionId: string; readonly reference: string }

/**
 * The one movement that takes the original back. Being one field of the original, set by compare-and-set, two of them cannot both
 * be. On a stake that is PENDING it means that a rollback is owed and no late success counts.
 */
export type Reversal = FreshMovement & {
  readonly type: 'REFUND' | 'ROLLBACK'
  readonly origin: 'caller' | 'service'
  readonly requestHash: string
  readonly roundClosed: boolean
  readonly askedAt: Date
  /** Its own record exists. */
  readonly placed: boolean
}

export type MovementState = {
  readonly type: MovementType
  /** Null for what never calls a wallet: a lost round's zero win that the wallet is not told of. */
  readonly operation: WalletOperation | null
  readonly status: MovementStatus
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Calls begun so far. */
  readonly tries: number
  /** Calls whose outcome is unknown. */
  readonly unknownTries: number
  readonly call: WalletCall | null
  /** When somebody must act next; null when nobody must. Never null while PENDING, except for a stake whose rollback has its own record. */
  readonly dueAt: Date | null
  readonly pendingCode: PendingCode | null
  readonly refusalCode: RefusalCode | null
  readonly walletCode: string | null
  readonly walletTransactionId: string | null
  readonly balanceAfter: string | null
  readonly reversal: Reversal | null
}

export type MovementMessage =
  /** A call is about to be sent. `token` names it. */
  | { readonly kind: 'call-begun'; readonly at: Date; readonly token: string; readonly leaseMs: number }
  | {
      readonly kind: 'answered'
      readonly at: Date
      readonly token: string
      readonly judgement: Judgement
      readonly rollback: FreshMovement
    }
  /** The holder of the call let its time pass: whether the wallet got it is unknown. */
  | { readonly kind: 'call-lost'; readonly at: Date; readonly rollback: FreshMovement }
  /** A stake's tries or its envelope are used up. */
  | { readonly kind: 'budget-spent'; readonly at: Date; readonly rollback: FreshMovement }
  /** Give a pending stake back, whatever the wallet knows of it. */
  | {
      readonly kind: 'void-asked'
      readonly at: Date
      readonly rollback: FreshMovement
      readonly requestHash: string
    }
  | {
      readonly kind: 'reversal-asked'
      readonly at: Date
      readonly type: 'REFUND' | 'ROLLBACK'
      readonly reversal: FreshMovement
      readonly requestHash: string
      readonly roundClosed: boolean
    }
  | { readonly kind: 'reversal-placed'; readonly at: Date; readonly transactionId: string }
  /** The id chosen for the reversal belongs to another movement; nothing was sent. */
  | {
      readonly kind: 'reversal-conflicted'
      readonly at: Date
      readonly transactionId: string
      readonly rollback: FreshMovement
    }
  | { readonly kind: 'reversal-acknowledged'; readonly at: Date; readonly transactionId: string }
  /** A person decided that the reversal will not be. */
  | { readonly kind: 'reversal-given-up'; readonly at: Date; readonly transactionId: string }
  /** The wallet says that it knows the result now. */
  | { readonly kind: 'hinted'; readonly at: Date }
  /** A person ends an owed movement. */
  | { readonly kind: 'resolved'; readonly at: Date; readonly as: 'success' | 'failed' }

export type MovementEventType =
  | 'transaction.bet'
  | 'transaction.win'
  | 'transaction.failed'
  | 'transaction.rollback'

/** What a step did. `refused` leaves the state as it was. */
export type MovementStep =
  | { readonly kind: 'applied'; readonly state: MovementState; readonly event: MovementEventType | null }
  | { readonly kind: 'ignored'; readonly state: MovementState }
  | {
      readonly kind: 'refused'
      readonly state: MovementState
      readonly code: 'CONFLICT' | 'VALIDATION_ERROR' | 'TRANSACTION_ALREADY_REVERSED'
      readonly message: string
    }
