import type { ErrorCode } from '@pitboss/errors/catalogue'
import type { PlayState } from '@pitboss/fairness/games/game'
import type { RefusalCode, ReportFact, Reversal, RoundState, Stake, Win } from './round.ts'

type Message<Type extends string, More = object> = Type extends Type ? { readonly type: Type } & More : never
type OfMovement = { readonly transactionId: string }

export type RoundMessage =
  | Message<'grant-used' | 'grant-denied' | 'grant-returned' | 'cash-out'>
  | Message<'stake-taken', OfMovement & { readonly settleLosses?: RoundState['settleLosses'] | undefined }>
  | Message<'win-paid' | 'win-failed' | 'reversal-done' | 'reversal-failed', OfMovement>
  | Message<'withdraw', OfMovement>
  | Message<'stake-refused', OfMovement & { readonly code: RefusalCode }>
  /** The stake was rolled back or refunded, and the wallet has acknowledged that. */
  | Message<'stake-returned', OfMovement & { readonly refusal: RefusalCode | null }>
  | Message<'reveal', { readonly tile: number }>
  /** The player has left the round: nothing was done in it after `since`. */
  | Message<'abandon', { readonly since: Date }>
  /** The end by an event that a restored database lacks. `play` is null for a voided round. */
  | Message<'end-as-told', { readonly play: ToldPlay | null; readonly endReason: string | null }>
  /** The reason, from an event, why this round was voided; what became of its stake is still unknown. */
  | Message<'learn-end-reason', { readonly endReason: string }>
  | Message<'add-stake', { readonly stake: Stake }>
  | Message<'add-win', { readonly win: Win; readonly outcome: RoundState['outcome'] }>
  | Message<'add-reversal', { readonly reversal: Reversal }>

type ToldPlay = { readonly actions: readonly number[]; readonly payout: bigint }

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
