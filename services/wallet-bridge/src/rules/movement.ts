import type { MovementOutcome } from '@pitboss/contracts/calls/wallet'
import type { Doubt } from '@pitboss/contracts/objects/dossier'
import type { Movement, MovementAttempt } from '@pitboss/contracts/objects/movement'

/** The state of a movement and its messages; the rules are in `advance-movement.ts`. */

export type MovementType = Movement['type']
export type MovementStatus = Movement['status']
export type WalletOperation = 'debit' | 'credit' | 'rollback'

/** The error code for the caller while the outcome is unknown. */
export type PendingCode = Extract<MovementOutcome, { kind: 'pending' }>['code']

/** The error code for the caller when the wallet refused for certain. */
export type RefusalCode = Extract<MovementOutcome, { kind: 'refused' }>['code']

export type UnreadableField = NonNullable<MovementAttempt['unreadable']>[number]

/** The judgement of a wallet's answer to one call. Source: docs/contract.md, section 6. */
export type Judgement =
  | {
      readonly kind: 'success'
      readonly walletCode: string
      readonly walletTransactionId: string | null
      readonly balanceAfter: string | null
      /** Fields of the answer that say something which nobody can read. */
      readonly unreadable: readonly UnreadableField[]
    }
  | {
      readonly kind: 'refused'
      readonly code: RefusalCode
      readonly walletCode: string
      /** Of a debit: a 2xx answer with a word of the wallet's own, so nobody knows whether it was taken. */
      readonly isUnlisted?: true
    }
  /** A debit whose rollback reached the wallet first: the wallet will never take it. */
  | { readonly kind: 'rolled-back'; readonly walletCode: string }
  | {
      readonly kind: 'unknown'
      readonly code: PendingCode
      readonly walletCode: string | null
      readonly reason: string
    }

/** The process with its token may write the result; after `until` any may give the call up as lost. */
export type WalletCall = {
  readonly token: string
  /** 1-based. */
  readonly attempt: number
  readonly startedAt: Date
  readonly until: Date
}

/** The ids of a movement that is about to be made; they come from outside the rules. */
export type FreshMovement = { readonly transactionId: string; readonly reference: string }

/** A rollback that the service itself is about to make. */
export type OwnRollback = FreshMovement & {
  /** The round ends with it: no other stake of the round can stand. */
  readonly roundClosed: boolean
}

/** The movement that takes the original back. A PENDING stake owes it; a late success does not count. */
export type Reversal = FreshMovement & {
  readonly type: 'REFUND' | 'ROLLBACK'
  readonly origin: 'caller' | 'service'
  readonly requestHash: string
  readonly roundClosed: boolean
  readonly askedAt: Date
  /** True when it has a record of its own. */
  readonly placed: boolean
  /** Of a stake that the wallet refused in a word of its own; the stake stays FAILED. */
  readonly ofRefused?: true
}

export type MovementState = {
  readonly type: MovementType
  /** Null for the zero win of a lost round without a wallet call. */
  readonly operation: WalletOperation | null
  readonly status: MovementStatus
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Calls begun so far. */
  readonly tries: number
  /** Calls whose outcome is unknown. */
  readonly unknownTries: number
  readonly call: WalletCall | null
  /** When the resolver must act. While PENDING, null only for a stake whose rollback has its own record. */
  readonly dueAt: Date | null
  readonly pendingCode: PendingCode | null
  readonly refusalCode: RefusalCode | null
  readonly walletCode: string | null
  readonly walletTransactionId: string | null
  readonly balanceAfter: string | null
  readonly reversal: Reversal | null
  /** Of a rollback: its stake was refused, so it has no event. */
  readonly ofRefused?: true
  /** Of a pending stake: a database was restored, so operations say what became of it. */
  readonly inDoubt?: true
  /** Why it is in doubt. Earlier builds stored none, for `no-round`. */
  readonly doubt?: Doubt
}

type WithRollback = { readonly rollback: OwnRollback }

type Message =
  /** A call is about to be sent. `token` names it. */
  | { readonly kind: 'call-begun'; readonly token: string; readonly leaseMs: number }
  | ({ readonly kind: 'answered'; readonly token: string; readonly judgement: Judgement } & WithRollback)
  /** The time of the call has passed without an answer: it is unknown whether the wallet got the call. */
  | { readonly kind: 'call-lost' }
  /** A stake has used up its tries or its time. */
  | ({ readonly kind: 'budget-spent' } & WithRollback)
  /** As `budget-spent`, while it is unknown whether the stake's success was published. */
  | { readonly kind: 'rollback-held'; readonly until: Date; readonly doubt: Doubt }
  /** Rounds knows that the wallet took the stake, and this record does not: a database was restored. */
  | { readonly kind: 'known-taken' }
  /** Give a pending stake back, whether or not the wallet has taken it. */
  | ({ readonly kind: 'void-asked'; readonly requestHash: string } & WithRollback)
  | ({ readonly kind: 'reversal-asked'; readonly reversal: FreshMovement } & Pick<
      Reversal,
      'type' | 'requestHash' | 'roundClosed'
    >)
  | { readonly kind: 'reversal-placed'; readonly transactionId: string }
  /** The reversal's id belongs to another movement; nothing was sent. */
  | ({ readonly kind: 'reversal-conflicted'; readonly transactionId: string } & WithRollback)
  | { readonly kind: 'reversal-acknowledged'; readonly transactionId: string }
  /** Rounds knows of a reversal that this record has lost. */
  | { readonly kind: 'reversal-known'; readonly reversal: Reversal }
  /** A person decided that the reversal is not made. */
  | { readonly kind: 'reversal-given-up'; readonly transactionId: string }
  /** The wallet's callback says that it knows the result now. */
  | { readonly kind: 'hinted' }
  /** A person ends an owed movement. */
  | ({ readonly kind: 'resolved'; readonly as: 'success' | 'failed' } & WithRollback)

export type MovementMessage = { readonly at: Date } & Message
export type MessageOf<Kind extends MovementMessage['kind']> = Extract<MovementMessage, { kind: Kind }>

export type MovementEventType =
  | 'transaction.bet'
  | 'transaction.win'
  | 'transaction.failed'
  | 'transaction.rollback'

/** The event of a movement that the wallet has acknowledged. Source: docs/contract.md, section 7. */
export const eventOfSuccess = {
  BET: 'transaction.bet',
  WIN: 'transaction.win',
  REFUND: 'transaction.bet',
  ROLLBACK: 'transaction.rollback',
} as const satisfies Record<MovementType, MovementEventType>

/** The result of a message. `ignored` and `refused` leave the state as it was. */
export type MovementStep =
  | { readonly kind: 'applied'; readonly state: MovementState; readonly event: StepEvent }
  | { readonly kind: 'ignored'; readonly state: MovementState }
  | {
      readonly kind: 'refused'
      readonly state: MovementState
      readonly code: 'CONFLICT' | 'VALIDATION_ERROR' | 'TRANSACTION_ALREADY_REVERSED'
      readonly message: string
    }

type StepEvent = MovementEventType | null
export type Change = Partial<Omit<MovementState, 'type' | 'operation' | 'createdAt' | 'updatedAt'>>

export function applied(
  state: MovementState,
  at: Date,
  change: Change,
  event: StepEvent = null,
): MovementStep {
  return { kind: 'applied', state: { ...state, ...change, updatedAt: at }, event }
}

export const ignored = (state: MovementState): MovementStep => ({ kind: 'ignored', state })

/** WALLET_TIMEOUT before the first answer, a refusal after a tombstone, done for what was given back. */
export function outcomeOf(state: MovementState): MovementOutcome {
  if (state.status === 'PENDING') {
    const rollbackOwed = state.type === 'BET' && state.reversal !== null
    return { kind: 'pending', code: state.pendingCode ?? 'WALLET_TIMEOUT', rollbackOwed }
  }
  if (state.refusalCode !== null) return { kind: 'refused', code: state.refusalCode }
  return { kind: 'done' }
}

type AttemptedMovement = Pick<MovementState, 'status' | 'type' | 'operation' | 'reversal'> & {
  readonly attempts: readonly { readonly classification: string }[]
}

/** Whether a wallet has ever acknowledged the movement, whatever became of it since. */
export function wasAcknowledged({ status, operation, attempts }: AttemptedMovement): boolean {
  if (operation === null) return false
  if (status === 'SUCCESS' || status === 'REFUNDED') return true
  return attempts.some(({ classification }) => classification === 'SUCCESS')
}

/** Whether a caller can be answered: the first try has ended, or there will be none. */
export function hasAnswer({ status, type, reversal, attempts }: AttemptedMovement): boolean {
  if (status !== 'PENDING' || attempts.length > 0) return true
  return type === 'BET' && reversal !== null
}

/** The state once the caller's process has ended: nobody waits for the call's time to pass. */
export function withCallOver<State extends Pick<MovementState, 'call' | 'dueAt'>>(
  state: State,
  at: Date,
): State {
  const { call, dueAt } = state
  if (call === null || call.until <= at) return state
  return { ...state, call: { ...call, until: at }, dueAt: dueAt === null ? null : at }
}

/** Whether a movement waits for its outcome, or its reversal for a record of its own. */
export function hasWork({ status, reversal }: Pick<MovementState, 'status' | 'reversal'>): boolean {
  return status === 'PENDING' || reversal?.placed === false
}

export type StakeStanding = Pick<MovementState, 'status' | 'reversal'>
type WinRefusal = 'ROUND_IN_PROGRESS' | 'ROUND_ALREADY_SETTLED'

/**
 * Why a win must not be sent: no stake of its round is taken; null when it may be. Without any stake of the
 * round this database has lost them, and the win is sent. Source: docs/contract.md, section 12.
 */
export function winRefusal(stakes: readonly StakeStanding[], roundClosed: boolean): WinRefusal | null {
  const isPending = stakes.some(({ status }) => status === 'PENDING')
  if (roundClosed && isPending) return 'ROUND_IN_PROGRESS'
  const isTaken = stakes.some(({ status, reversal }) => status === 'SUCCESS' && reversal === null)
  if (isTaken || stakes.length === 0) return null
  const isReturning = stakes.some(({ status }) => status === 'SUCCESS')
  return isPending || isReturning ? 'ROUND_IN_PROGRESS' : 'ROUND_ALREADY_SETTLED'
}
