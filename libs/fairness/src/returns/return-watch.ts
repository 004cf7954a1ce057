import { addOutcome, alarmAt, chanceBand, type Evidence, noEvidence, noticedWithin } from './evidence.ts'
import { type PlayedRound, readTrials } from './read-trials.ts'

/** Probability that a watch of fair games ever raises an alarm, in all its streams together. Source: ours. */
export const errorBudget = 0.01

/** The shape of a stream of draws. */
export const drawsShape = 'draws'

/** One chance of a game, or the draws of a game, with all that was seen of it. */
export type Stream = {
  readonly game: string
  /** The shape of the bet, or `draws`. */
  readonly shape: string
  /** Its place in the order in which streams were met, from 1 on: fixes its share of the error budget. */
  readonly position: number
  /** The error budget that it shares with all streams of that order. */
  readonly budget: number
  /** The chance of a win and the game's return; null for draws. */
  readonly win: { readonly chance: number; readonly rtp: number } | null
  readonly evidence: Evidence
  /** After how many trials the score first was an alarm; null when it never was. It stays. */
  readonly alarmedAt: number | null
}

/** All streams by game and shape. Plain data: it can be kept as JSON and gone on with. */
export type ReturnWatch = { readonly streams: Readonly<Record<string, Stream>> }

export const emptyWatch: ReturnWatch = { streams: {} }

/** An outcome of a stream; the number of a stream's outcomes never changes. */
export type StreamOutcome = Pick<Stream, 'game' | 'shape' | 'win'> & {
  readonly outcomes: number
  /** The one that came, from 0 on: 0 is a win of a stream with chances. */
  readonly outcome: number
}

/**
 * The outcomes that the trials of a round add to its streams; `trial` is the number of the trial, from 0 on.
 * Certain wins are no chances and left out.
 */
export function outcomesOf(
  round: PlayedRound,
  find?: Parameters<typeof readTrials>[1],
): (StreamOutcome & { readonly trial: number })[] {
  const read = readTrials(round, find)
  if (read === null) return []
  const { game, trials, drawn } = read
  const rtp = Number(read.rtp.n) / Number(read.rtp.d)
  const taken = trials.flatMap(({ shape, chance, won }, trial) => {
    const win = { chance: Number(chance.n) / Number(chance.d), rtp }
    return win.chance >= 1 ? [] : [{ game, shape, win, outcomes: 2, outcome: won ? 0 : 1, trial }]
  })
  if (drawn === null) return taken
  const { part: outcome, parts: outcomes } = drawn
  return [...taken, { game, shape: drawsShape, win: null, outcomes, outcome, trial: 0 }]
}

/**
 * The watch after one more finished round. Rounds that no game of ours decided, such as voided ones and those
 * that an operator's server drives, change nothing. Source: docs/rtp-watch.md.
 */
export function watchRound(watch: ReturnWatch, round: PlayedRound): ReturnWatch {
  return outcomesOf(round).reduce((after, { trial: _, ...outcome }) => watchOutcome(after, outcome), watch)
}

/** The watch after one more outcome of a stream. */
export function watchOutcome({ streams }: ReturnWatch, outcome: StreamOutcome): ReturnWatch {
  const key = `${outcome.game} ${outcome.shape}`
  const known = streams[key] ?? newStream(outcome, Object.keys(streams).length + 1, errorBudget)
  return { streams: { ...streams, [key]: addToStream(known, outcome.outcome) } }
}

/**
 * A stream before its first outcome.
 * @param position as of `Stream`; no two streams that share a budget may have the same
 */
export function newStream(
  { game, shape, win, outcomes }: Omit<StreamOutcome, 'outcome'>,
  position: number,
  budget: number,
): Stream {
  return { game, shape, position, budget, win, evidence: noEvidence(outcomes), alarmedAt: null }
}

/** The stream after one more outcome. It looks after each, as the promise allows. */
export function addToStream(stream: Stream, outcome: number): Stream {
  const { win, evidence, position, budget } = stream
  const chance = win === null ? 1 / evidence.counts.length : outcome === 0 ? win.chance : 1 - win.chance
  const after = addOutcome(evidence, outcome, chance)
  const isAlarm = after.log >= alarmAt(position, budget)
  return { ...stream, evidence: after, alarmedAt: stream.alarmedAt ?? (isAlarm ? after.total : null) }
}

/** A stream as returns to players: what was seen, what is not ruled out, and how soon an error shows. */
export type ReturnView = {
  readonly game: string
  readonly shape: string
  readonly trials: number
  /** As designed; null for draws. */
  readonly rtp: number | null
  readonly seen: number | null
  readonly low: number | null
  readonly high: number | null
  /** Trials within which an error of one point is expected to be an alarm; null for draws. */
  readonly pointNoticedWithin: number | null
  readonly alarmedAt: number | null
}

const onePoint = 0.01

/** What a stream says now; before its first trial nothing is ruled out, and nothing was seen. */
export function viewOf(stream: Stream): ReturnView {
  const { game, shape, position, budget, win, evidence, alarmedAt } = stream
  const { total: trials, counts } = evidence
  const head = { game, shape, trials }
  if (win === null) {
    return {
      ...head,
      ...{ rtp: null, seen: null, low: null, high: null, pointNoticedWithin: null },
      alarmedAt,
    }
  }
  const { chance, rtp } = win
  const threshold = alarmAt(position, budget)
  const asReturn = (share: number) => (rtp * share) / chance
  const { low, high } = chanceBand(evidence, chance, threshold)
  const off = (points: number) => noticedWithin(chance, chance * (1 + points / rtp), threshold)
  return {
    ...head,
    rtp,
    seen: trials === 0 ? null : asReturn((counts[0] ?? 0) / trials),
    low: asReturn(low),
    high: asReturn(high),
    pointNoticedWithin: Math.max(off(-onePoint), chance * (1 + onePoint / rtp) < 1 ? off(onePoint) : 0),
    alarmedAt,
  }
}
