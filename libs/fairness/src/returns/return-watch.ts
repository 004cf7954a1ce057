import { addOutcome, alarmAt, chanceBand, type Evidence, noEvidence, noticedWithin } from './evidence.ts'
import { readTrials } from './read-trials.ts'

/** Probability that a watch of fair games ever raises an alarm, in all its streams together. Source: ours. */
export const errorBudget = 0.01

/** One chance of a game, or the draws of a game, with all that was seen of it. */
export type Stream = {
  readonly game: string
  /** The shape of the bet, or `draws`. */
  readonly shape: string
  /** Its place in the order in which streams were met, from 1 on: fixes its share of the error budget. */
  readonly position: number
  /** The chance of a win and the game's return; null for draws. */
  readonly win: { readonly chance: number; readonly rtp: number } | null
  readonly evidence: Evidence
  /** After how many trials the score first was an alarm; null when it never was. It stays. */
  readonly alarmedAt: number | null
}

/** All streams by game and shape. Plain data: it can be kept as JSON and gone on with. */
export type ReturnWatch = { readonly streams: Readonly<Record<string, Stream>> }

export const emptyWatch: ReturnWatch = { streams: {} }

/**
 * The watch after one more finished round. Rounds that no game of ours decided, such as voided ones and those
 * that an operator's server drives, change nothing. Source: docs/rtp-watch.md.
 */
export function watchRound(watch: ReturnWatch, round: Parameters<typeof readTrials>[0]): ReturnWatch {
  const read = readTrials(round)
  if (read === null) return watch
  const { game, trials, drawn } = read
  const rtp = Number(read.rtp.n) / Number(read.rtp.d)
  let after = watch
  for (const { shape, chance, won } of trials) {
    const win = { chance: Number(chance.n) / Number(chance.d), rtp }
    after = watchOutcome(after, { game, shape, win, outcomes: 2 }, won ? 0 : 1)
  }
  if (drawn === null) return after
  return watchOutcome(after, { game, shape: 'draws', win: null, outcomes: drawn.parts }, drawn.part)
}

/** The watch after one more outcome of a stream. @param outcome 0 for a win of a stream with chances */
export function watchOutcome(
  { streams }: ReturnWatch,
  stream: Pick<Stream, 'game' | 'shape' | 'win'> & { readonly outcomes: number },
  outcome: number,
): ReturnWatch {
  const { game, shape, win, outcomes } = stream
  // A certain win is no chance.
  if (win !== null && win.chance >= 1) return { streams }
  const key = `${game} ${shape}`
  const known = streams[key]
  const position = known?.position ?? Object.keys(streams).length + 1
  const chance = win === null ? 1 / outcomes : outcome === 0 ? win.chance : 1 - win.chance
  const evidence = addOutcome(known?.evidence ?? noEvidence(outcomes), outcome, chance)
  const isAlarm = evidence.log >= alarmAt(position, errorBudget)
  const alarmedAt = known?.alarmedAt ?? (isAlarm ? evidence.total : null)
  return { streams: { ...streams, [key]: { game, shape, position, win, evidence, alarmedAt } } }
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

/** What a stream says now. */
export function viewOf({ game, shape, position, win, evidence, alarmedAt }: Stream): ReturnView {
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
  const threshold = alarmAt(position, errorBudget)
  const asReturn = (share: number) => (rtp * share) / chance
  const { low, high } = chanceBand(evidence, chance, threshold)
  const off = (points: number) => noticedWithin(chance, chance * (1 + points / rtp), threshold)
  return {
    ...head,
    rtp,
    seen: asReturn((counts[0] ?? 0) / trials),
    low: asReturn(low),
    high: asReturn(high),
    pointNoticedWithin: Math.max(off(-onePoint), chance * (1 + onePoint / rtp) < 1 ? off(onePoint) : 0),
    alarmedAt,
  }
}
