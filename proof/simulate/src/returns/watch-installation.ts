import { addOutcome, alarmAt, type Evidence, noEvidence } from '@pitboss/fairness/returns/evidence'
import { errorBudget } from '@pitboss/fairness/returns/return-watch'

/** Bets that players of a simulated installation make by turns, in the order in which they are met. */
const chances = [0.495, 0.25, 0.88, 0.099]
const rtp = 0.99
const parts = 20

/** The bet whose return can be wrong; every so many rounds are of it. */
export const watchedBet = { chance: 0.495, rtp, every: chances.length } as const

export type Wrong = {
  /** Points of return by which the first bet pays too much, or below zero too little. */
  readonly points: number
  /** The share of draws that are pushed into the first part of the range. */
  readonly pushed: number
}

export type Watched = {
  readonly alarms: number /** Rounds until the first alarm; null for none. */
  readonly firstAt: number | null
}

/**
 * One installation of `rounds` rounds under watch from its first round on, looked at after each. Its streams
 * are four bets and the draws.
 * @param seed the same gives the same installation
 */
export function watchInstallation(
  rounds: number,
  seed: number,
  { points, pushed }: Wrong = { points: 0, pushed: 0 },
): Watched {
  const next = numbers(seed)
  const streams = chances.map((chance, at) => ({
    actual: at === 0 ? (chance * (rtp + points / 100)) / rtp : chance,
    fair: [chance, 1 - chance],
    evidence: noEvidence(2),
    threshold: alarmAt(at + 1, errorBudget),
    alarmed: false,
  }))
  let draws = noEvidence(parts)
  const drawsAlarm = { threshold: alarmAt(chances.length + 1, errorBudget), alarmed: false }
  let alarms = 0
  let firstAt: number | null = null
  const judge = (evidence: Evidence, stream: { threshold: number; alarmed: boolean }, round: number) => {
    if (stream.alarmed || evidence.log < stream.threshold) return
    stream.alarmed = true
    alarms += 1
    firstAt ??= round
  }
  for (let round = 1; round <= rounds; round++) {
    const stream = streams[round % streams.length]
    if (stream === undefined) throw new Error('an installation has streams')
    const outcome = next() < stream.actual ? 0 : 1
    stream.evidence = addOutcome(stream.evidence, outcome, stream.fair[outcome] ?? 0)
    judge(stream.evidence, stream, round)
    draws = addOutcome(draws, next() < pushed ? 0 : Math.floor(next() * parts), 1 / parts)
    judge(draws, drawsAlarm, round)
  }
  return { alarms, firstAt }
}

/** A repeatable source of numbers from 0 to below 1 (sfc32). */
function numbers(seed: number): () => number {
  let [a, b, c, count] = [seed | 0, 0x9e3779b9 | 0, 0x243f6a88 | 0, 1]
  const next = () => {
    const sum = (((a + b) | 0) + count) | 0
    count = (count + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    c |= 0
    return (sum >>> 0) / 2 ** 32
  }
  for (let warm = 0; warm < 12; warm++) next()
  return next
}
