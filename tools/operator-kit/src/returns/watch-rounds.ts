import type { History } from '@pitboss/fairness/returns/lay-out-return'
import {
  emptyWatch,
  type ReturnView,
  type ReturnWatch,
  type Stream,
  viewOf,
  watchRound,
} from '@pitboss/fairness/returns/return-watch'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { readRounds } from './read-rounds.ts'

export type WatchedReturns = {
  readonly rounds: number
  /** Ids of rounds whose draw, payout or commitment does not come out the same. */
  readonly unverified: readonly string[]
  /** By stream, most trials first. */
  readonly histories: readonly History[]
  readonly alarms: number
}

/** A point of a history comes after this many times the trials of the point before. */
const growth = 1.15
const firstPointAt = 20

/** Watches the finished rounds of all lines in their order, each round once. */
export async function watchRounds(lines: AsyncIterable<string>): Promise<WatchedReturns> {
  const seen = new Set<string>()
  const unverified: string[] = []
  const points = new Map<string, ReturnView[]>()
  let watch: ReturnWatch = emptyWatch
  for await (const line of lines) {
    for (const round of readRounds(line)) {
      if (seen.has(round.round_id) || round.outcome === null) continue
      seen.add(round.round_id)
      if (!verifyRound(round).valid) unverified.push(round.round_id)
      const before = watch
      watch = watchRound(watch, round)
      for (const [key, stream] of Object.entries(watch.streams))
        if (before.streams[key] !== stream) keepPoint(points, key, stream)
    }
  }
  const histories = Object.entries(watch.streams)
    .map(([key, stream]) => [...(points.get(key) ?? []), viewOf(stream)])
    .toSorted((a, b) => trialsOf(b) - trialsOf(a))
  const alarms = Object.values(watch.streams).filter(({ alarmedAt }) => alarmedAt !== null).length
  return { rounds: seen.size, unverified, histories, alarms }
}

function keepPoint(points: Map<string, ReturnView[]>, key: string, stream: Stream): void {
  const own = points.get(key) ?? []
  const last = own.at(-1)?.trials ?? 0
  if (stream.evidence.total < Math.max(firstPointAt, last * growth)) return
  points.set(key, [...own, viewOf(stream)])
}

const trialsOf = (history: History) => history.at(-1)?.trials ?? 0
