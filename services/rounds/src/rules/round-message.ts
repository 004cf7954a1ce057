import type { ErrorCode } from '@pitboss/errors/catalogue'
import type { PlayState } from '@pitboss/fairness/games/game'
import type { RefusalCode, ReportFact, Reversal, RoundState, Stake, Win } from './round.ts'

export type RoundMessage =
  | { readonly type: 'stake-taken'; readonly transactionId: string }
  | { readonly type: 'stake-refused'; readonly transactionId: string; readonly code: RefusalCode }
  /** The stake was rolled back or refunded, and the wallet has acknowledged that. */
  | { readonly type: 'stake-returned'; readonly transactionId: string; readonly refusal: RefusalCode | null }
  | { readonly type: 'grant-used' }
  | { readonly type: 'grant-denied' }
  | { readonly type: 'grant-returned' }
  | { readonly type: 'reveal'; readonly tile: number }
  | { readonly type: 'cash-out' }
  /** The player has left the round: nothing was done in it after `since`. */
  | { readonly type: 'abandon'; readonly since: Date }
  /** The end by an event that a restored database lacks. `play` is null for a voided round. */
  | {
      readonly type: 'end-as-told'
      readonly play: { readonly actions: readonly number[]; readonly payout: bigint } | null
      readonly endReason: string | null
    }
  /** The reason, from an event, why this round was voided; what became of its stake is still unknown. */
  | { readonly type: 'learn-end-reason'; readonly endReason: string }
  | { readonly type: 'win-paid'; readonly transactionId: string }
  | { readonly type: 'win-failed'; readonly transactionId: string }
  | { readonly type: 'add-stake'; readonly stake: Stake }
  | {
      readonly type: 'add-win'
      readonly win: Win
      readonly outcome: Readonly<Record<string, unknown>> | null
    }
  | { readonly type: 'add-reversal'; readonly reversal: Reversal }
  | { readonly type: 'reversal-done'; readonly transactionId: string }
  | { readonly type: 'reversal-failed'; readonly transactionId: string }
  | { readonly type: 'withdraw'; readonly transactionId: string }

export type MessageOf<Type extends RoundMessage['type']> = Extract<RoundMessage, { type: Type }>
export type PlayerAction = MessageOf<'reveal' | 'cash-out'>

/** The inputs of a transition from outside; the functions are pure or bound to this one round. */
export type RoundContext = {
  readonly now: Date
  readonly winId: () => string
  readonly refundId: () => string
  readonly serverSeed: string
  /** The rules of the game, bound to the round's bet and seeds; never for driver "operator". */
  readonly play: (actions: readonly number[], cashOut: boolean) => PlayState
}

export type EventType = 'round.started' | 'round.completed'

export type RoundChange =
  | {
      readonly kind: 'changed'
      readonly round: RoundState
      readonly events: readonly EventType[]
      readonly fact: ReportFact | null
    }
  /** The message is true already, or too late to matter: nothing is written. */
  | { readonly kind: 'unchanged' }
  | Refused

export type Refused = {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly path?: string
  readonly message?: string
}

/** A transition's result before events, reports and the clock are added to it. */
export type Step = RoundState | 'unchanged' | Refused

export function refuse(code: ErrorCode, more: { path?: string; message?: string } = {}): Step {
  return { kind: 'refused', code, ...more }
}
