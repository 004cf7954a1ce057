import { alarmAt } from '@pitboss/fairness/returns/evidence'
import type { PlayedRound } from '@pitboss/fairness/returns/read-trials'
import {
  addToStream,
  errorBudget,
  outcomesOf,
  type Stream,
  type StreamOutcome,
} from '@pitboss/fairness/returns/return-watch'
import type { Catalogue } from '../../../rules/catalogue.ts'
import type { RoundState, TakenTrials } from '../../../rules/round.ts'

/** Half of the error budget for the installation's streams, half for accounts'. Source: ours. */
export const streamBudget = errorBudget / 2
/** A point of the picture comes after this many times the trials of the point before. */
const growth = 1.25
const firstPointAt = 20

/** The streams of one order, whose positions share a budget. */
export type Share = 'installation' | 'account'
/** The place of a stream. `scope` is that of an account, or of an environment of the whole installation. */
export type StreamPlace = {
  readonly share: Share
  readonly scope: string
  /** Null for streams of the whole installation. */
  readonly currency: string | null
  readonly game: string
  readonly rules: string
  readonly shape: string
}
/** An outcome on its way into a stream. Money is in minor units; free stakes never moved and count none. */
export type StreamStep = StreamPlace &
  Pick<StreamOutcome, 'win' | 'outcomes' | 'outcome'> & { readonly staked: bigint; readonly paid: bigint }

/** The fields of a round that the watch of returns reads. */
type WatchedRound = PlayedRound &
  Pick<RoundState, 'environment' | 'currency' | 'driver' | 'freeBet' | 'stake' | 'payout'> & {
    readonly scope: string
  }

/** The steps of a fact's chances: each for a stream of its account and a common one. */
export function stepsOf(
  round: WatchedRound,
  { from, to, rules }: TakenTrials & { readonly rules: string },
  catalogue: Catalogue,
): StreamStep[] {
  if (round.driver !== 'game') return []
  const find = (slug: string) => catalogue.find(slug)?.game ?? null
  return outcomesOf(round, find).flatMap(({ trial, game, shape, win, outcomes, outcome }) => {
    if (trial < from || trial >= to) return []
    // Of a game of one draw the bet is the stake; a tile is not paid for by itself.
    const isPaid = win !== null && catalogue.find(game)?.game.stepwise !== true && !round.freeBet
    const step = { game, rules, shape, win, outcomes, outcome }
    const { scope, environment, currency } = round
    const common = { share: 'installation', scope: installationScope(environment), currency: null } as const
    const moved = isPaid ? { staked: round.stake, paid: round.payout ?? 0n } : { staked: 0n, paid: 0n }
    return [
      { ...step, ...common, staked: 0n, paid: 0n },
      { ...step, share: 'account', scope, currency, ...moved },
    ] satisfies StreamStep[]
  })
}

export function installationScope(environment: string): string {
  return `*/${environment}`
}

/** The key of a stream: sorts by account, environment, game, rules, currency and shape. */
export function streamKey({ scope, currency, game, rules, shape }: StreamPlace): string {
  return [scope, game, rules, currency ?? '', shape].join('|')
}

export type Point = {
  readonly trials: number
  readonly wins: number
  readonly log: number
  readonly at: Date
}
/** The score that was the alarm, with the counts at that moment. */
export type Crossing = { readonly at: Date; readonly counts: readonly number[]; readonly log: number }
export type KeptStream = Stream & {
  readonly staked: bigint
  readonly paid: bigint
  readonly points: readonly Point[]
  readonly crossing: Crossing | null
}

export type StoredStream = Omit<KeptStream, 'budget' | 'evidence' | 'staked' | 'paid'> & {
  readonly counts: readonly number[]
  readonly log: number
  readonly staked: string
  readonly paid: string
}

export function keptStream({ counts, log, staked, paid, ...stored }: StoredStream): KeptStream {
  const evidence = { counts, total: sumOf(counts), log }
  return { ...stored, budget: streamBudget, evidence, staked: BigInt(staked), paid: BigInt(paid) }
}

export function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** The stream after one more step. @param at the time of the fact */
export function foldStep(kept: KeptStream, { outcome, staked, paid }: StreamStep, at: Date): KeptStream {
  const after = addToStream(kept, outcome)
  const { total, counts, log } = after.evidence
  const isDue = total >= Math.max(firstPointAt, (kept.points.at(-1)?.trials ?? 0) * growth)
  const crosses = kept.alarmedAt === null && after.alarmedAt !== null
  return {
    ...kept,
    ...after,
    staked: kept.staked + staked,
    paid: kept.paid + paid,
    points: isDue ? [...kept.points, { trials: total, wins: counts[0] ?? 0, log, at }] : kept.points,
    crossing: crosses ? { at, counts, log } : kept.crossing,
  }
}

/** The score that is an alarm, as a logarithm. */
export function thresholdOf({ position, budget }: Pick<Stream, 'position' | 'budget'>): number {
  return alarmAt(position, budget)
}
