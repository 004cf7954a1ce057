import type { RoundState } from '@pitboss/rounds/rules/round'
import type { LimitBook } from '@pitboss/rounds/wings/protection/rules/player-limits'
import { requestKeyOf } from './accepted.ts'

/** A stake of the limited player: when its intent was stored, and since when it counts; by the run's time. */
export type NotedStake = {
  readonly transactionId: string
  readonly roundId: string
  /** Of the page's request. */
  readonly requestedAs: string | null
  readonly minor: bigint
  readonly intendedAtMs: number
  readonly countedAtMs: number | null
  /** The time of the book's own. */
  readonly countedAs: Date | null
  /** Whether the book that counted it was set back. */
  readonly isForgotten: boolean
}

export type NotedStakes = {
  roundWritten(round: RoundState): void
  bookKept(playerId: string, book: LimitBook): void
  bookRestored(playerId: string, backedUpAtMs: number): void
  all(): readonly NotedStake[]
}

/** Notes the stakes of one player as they are written, whatever becomes of them. */
export function createNotedStakes(player: string, nowMs: () => number): NotedStakes {
  const stakes = new Map<string, NotedStake>()
  const keyOf = (one: Pick<NotedStake, 'roundId' | 'transactionId'>) => `${one.roundId} ${one.transactionId}`
  return {
    roundWritten(round) {
      const { id: roundId, playerId, freeBet } = round
      if (playerId !== player || freeBet) return
      const requestedAs = requestKeyOf(round)
      for (const { transactionId, minor } of round.stakes) {
        const intended = { transactionId, roundId, requestedAs, minor, intendedAtMs: nowMs() }
        const key = keyOf(intended)
        if (!stakes.has(key))
          stakes.set(key, { ...intended, countedAtMs: null, countedAs: null, isForgotten: false })
      }
    },
    bookKept(playerId, { charges }) {
      if (playerId !== player) return
      for (const charge of charges) {
        const noted = stakes.get(keyOf(charge))
        // A stake that is asked for again counts anew.
        if (noted === undefined || noted.countedAs?.getTime() === charge.at.getTime()) continue
        const counted = { countedAtMs: nowMs(), countedAs: charge.at, isForgotten: false }
        stakes.set(keyOf(charge), { ...noted, ...counted })
      }
    },
    bookRestored(playerId, backedUpAtMs) {
      if (playerId !== player) return
      for (const [key, noted] of stakes) {
        const isForgotten = noted.isForgotten || (noted.countedAtMs ?? -Infinity) >= backedUpAtMs
        stakes.set(key, { ...noted, isForgotten })
      }
    },
    all: () => [...stakes.values()],
  }
}
