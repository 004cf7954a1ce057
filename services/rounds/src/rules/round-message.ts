import type { ErrorCode } from '@pitboss/errors/catalogue'
import type { PlayState } from '@pitboss/fairness/games/game'
import type { Refusal } from './refusal.ts'
import type { RefusalCode, ReportFact, Reversal, RoundState, Stake, Win } from './round.ts'

/** When the request of a message arrived; null when nobody knows. */
type Received = { readonly receivedAt: Date | null }

/** Everything that can happen to a round. */
export type RoundMessage =
  /** The wallet took the stake. */
  | { readonly type: 'stake-taken'; readonly transactionId: string }
  /** The wallet refused it for certain. */
  | { readonly type: 'stake-refused'; readonly transactionId: string; readonly code: RefusalCode }
  /** It was rolled back or refunded, and the wallet has acknowledged that. */
  | { readonly type: 'stake-returned'; readonly transactionId: string; readonly refusal: RefusalCode | null }
  /** The free bet's grant was used for this round, or cannot be. */
  | { readonly type: 'grant-used' }
  | { readonly type: 'grant-denied' }
  | { readonly type: 'grant-returned' }
  | { readonly type: 'reveal'; readonly tile: number }
  | { readonly type: 'cash-out' }
  /** Nobody plays it any more. */
  | { readonly type: 'abandon' }
  | { readonly type: 'win-paid'; readonly transactionId: string }
  | { readonly type: 'win-failed'; readonly transactionId: string }
  /** Of rounds that the operator's server drives. */
  | ({ readonly type: 'add-stake'; readonly stake: Stake } & Received)
  | ({
      readonly type: 'add-win'
      readonly win: Win
      readonly outcome: Readonly<Record<string, unknown>> | null
    } & Received)
  | ({ readonly type: 'add-reversal'; readonly reversal: Reversal } & Received)
  | { readonly type: 'reversal-done'; readonly transactionId: string }
  | { readonly type: 'reversal-failed'; readonly transactionId: string }
  /** A movement that was intended and never written, for certain. */
  | {
      readonly type: 'withdraw'
      readonly transactionId: string
      /** What its asker is told then, for good; absent when he may ask again. */
      readonly refusal?: Refusal | null
    }

/** What a transition needs from outside; the functions are pure or bound to this one round. */
export type RoundContext = {
  readonly now: Date
  readonly newWinId: () => string
  readonly newRefundId: () => string
  /** The round's own seed, for the draw and the reveal. */
  readonly serverSeed: string
  /** The rules of the game bound to this round's bet and seeds. Never called for rounds of driver "operator". */
  readonly play: (actions: readonly number[], cashOut: boolean) => PlayState
}

export type RoundChange =
  | {
      readonly kind: 'changed'
      readonly round: RoundState
      readonly events: readonly ('round.started' | 'round.completed')[]
      readonly fact: ReportFact | null
    }
  /** True already, or too late to matter: nothing is written. */
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'refused'
      readonly code: ErrorCode
      readonly path?: string
      readonly message?: string
      /** What an equal request was told before. */
      readonly earlier?: Refusal
    }

/** A transition's result before events, reports and the clock are added to it. */
export type Step = RoundState | 'unchanged' | Extract<RoundChange, { kind: 'refused' }>
