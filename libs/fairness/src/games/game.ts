import { type Rational, rational } from '@pitboss/money/rational'
import type { DrawStep, Seeds } from '../fair-v1.ts'

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }
export type JsonObject = { readonly [key: string]: JsonValue }

/** A fault of a bet; `path` is dotted and starts with "bet". */
export type BetIssue = { readonly path: string; readonly message: string }

/** The rules of one game as pure functions. A further game is one such file and a line in `registry.ts`. */
export type Game = {
  /** Public name in paths and records, such as "dice". */
  readonly slug: string
  readonly name: string
  /**
   * Version of the rules: whoever changes what a bet wins, or how often, raises it. The watch counts each
   * apart.
   */
  readonly version: string
  /** True when the player acts between the stake and the end (reveal, cash-out). */
  readonly stepwise: boolean
  /** R, the share of stakes that goes back to players, for catalogue, draw and verification. */
  readonly rtp: Rational
  /** JSON Schema of the bet, `bet_schema` of the catalogue. */
  readonly betSchema: JsonObject
  /** JSON Schema of the outcome of a round, as records and events show it. */
  readonly outcomeSchema: JsonObject
  /** Checks a bet from outside. Never throws. */
  parseBet(value: unknown): { ok: true; wager: Wager } | { ok: false; issues: BetIssue[] }
  /**
   * A wager for each way to win, by their least win, the smallest first: every bet has the wins of one of
   * them.
   */
  shapes(): Iterable<Wager>
  /** Bet and actions of a finished round's outcome; null for what is none of this game. Never throws. */
  readOutcome(value: unknown): { bet: unknown; actions: readonly number[] } | null
}

/** A valid bet with the rules of its game bound to it. */
export type Wager = {
  /** The bet as it is stored and shown. */
  readonly bet: JsonObject
  /**
   * The smallest multiplier that a win can have. A stake for which even this pays more than `max_payout` is
   * refused: for one-shot games it is the only win there is, for stepwise ones the first step.
   */
  leastWinMultiplier(rtp: Rational): Rational
  /**
   * The multipliers of all wins, the smallest first: one for one-shot games, one for each step of stepwise
   * ones. The chance of a win is R divided by its multiplier.
   */
  winMultipliers(rtp: Rational): readonly Rational[]
  /** True for a value that `play` accepts among its actions (a tile number); never for a one-shot game. */
  isAction(value: unknown): value is number
  /** The state of the round after these actions, from the seeds alone. */
  play(input: PlayInput): PlayState
}

export type PlayInput = {
  readonly seeds: Seeds
  /** The game's R. */
  readonly rtp: Rational
  /** The player's actions in order; a repeated one counts once. Empty for one-shot games. */
  readonly actions: readonly number[]
  /** The player wants to end it now; without effect before the first action and in one-shot games. */
  readonly cashOut: boolean
  /** Whether a payout stays within `max_payout`; a stepwise round ends by itself before one that does not. */
  readonly payoutFits: (multiplier: Rational) => boolean
}

export type PlayState =
  | {
      readonly over: false
      /** Actions that counted so far, repeated ones left out. */
      readonly actions: readonly number[]
      /** The multiplier that a cash-out would pay now; null before the first action. */
      readonly multiplier: Rational | null
      readonly nextMultiplier: Rational
    }
  | {
      readonly over: true
      readonly actions: readonly number[]
      readonly won: boolean
      /** The multiplier that is paid, zero when lost. */
      readonly multiplier: Rational
      /** Public reveal of the round, `outcome` of docs/contract.md, section 4. */
      readonly outcome: JsonObject
      readonly endedBy: 'draw' | 'loss' | 'cashout' | 'complete' | 'max_payout'
      readonly steps: readonly DrawStep[]
    }

/** R of a game that has no other: 99 % of stakes go back to players. Source: docs/contract.md, section 4. */
export const DEFAULT_RTP: Rational = rational(99n, 100n)
