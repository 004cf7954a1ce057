import type { StakeStanding } from '@pitboss/contracts/calls/rounds'
import type { walletRefusal } from '@pitboss/contracts/calls/wallet'
import type { roundStatus } from '@pitboss/contracts/objects/round'
import type { JsonObject } from '@pitboss/fairness/games/game'
import type { z } from 'zod'

export const historyMax = 60

export type RefusalCode = z.output<typeof walletRefusal>

/** `ASKED` until the wallet has answered for certain; `RETURNING` while it is being given back. */
export type Stake = {
  readonly transactionId: string
  readonly minor: bigint
  readonly requestHash: string
  readonly state: 'ASKED' | 'TAKEN' | 'REFUSED' | 'RETURNING' | 'RETURNED'
  /** Whether the wallet has certainly taken it, also if it was given back later. */
  readonly wasTaken: boolean
  readonly refusal: RefusalCode | null
}

export type Win = {
  readonly transactionId: string
  readonly minor: bigint
  readonly requestHash: string
  readonly final: boolean
  readonly state: 'OWED' | 'PAID' | 'REVERSING' | 'REVERSED'
}

export type Reversal = {
  readonly transactionId: string
  readonly referenceTransactionId: string
  readonly type: 'REFUND' | 'ROLLBACK'
  readonly requestHash: string
  /** Whether no stake is left once it is done. */
  readonly closes: boolean
  readonly state: 'OWED' | 'DONE' | 'FAILED'
}

/** The action that ended a round; a repeat of it is no other action. */
export type FinalAction = { readonly kind: 'reveal'; readonly tile: number } | { readonly kind: 'cashout' }

/** All that the next step depends on. Minor units. Source: docs/contract.md, sections 4 and 5. */
export type RoundState = {
  readonly id: string
  readonly operatorId: string
  readonly environment: 'SANDBOX' | 'LIVE'
  readonly playerId: string
  readonly game: string
  readonly sessionId: string
  readonly brandId: string | null
  readonly currency: string
  readonly driver: 'game' | 'operator'
  readonly status: z.output<typeof roundStatus>

  readonly nonce: number
  readonly serverSeedHash: string
  readonly sealedSeed: string
  readonly clientSeed: string | null
  readonly serverSeed: string | null

  readonly walletRoundId: string
  readonly walletGameId: string

  readonly bet: JsonObject | null
  readonly stake: bigint
  readonly maxPayout: bigint
  /** Bounds the wins together; of an operator that has lowered it. */
  readonly winsMax?: bigint
  readonly freeBet: boolean
  readonly grantId: string | null
  readonly grantReturn: 'OWED' | 'DONE' | null
  /** Of the wallet, when it took the stake. */
  readonly settleLosses: 'none' | 'zero_credit'
  readonly requestHash: string
  /** The id of the request that opened the round; of the operator's server it is the stake's, too. */
  readonly clientTransactionId: string | null

  readonly stakes: readonly Stake[]
  readonly wins: readonly Win[]
  readonly reversals: readonly Reversal[]
  /** The id under which the stake is rolled back when its outcome stays unknown. */
  readonly rollbackTransactionId: string

  readonly actions: readonly number[]
  readonly multiplier: string | null
  readonly progress: { readonly tilesOpened: readonly number[]; readonly nextMultiplier: string } | null
  readonly outcome: Readonly<Record<string, unknown>> | null
  readonly payout: bigint | null
  readonly endReason: string | null
  readonly finalAction: FinalAction | null
  /** Whether `round.started` has been recorded. */
  readonly started: boolean
  readonly refusal: RefusalCode | null

  readonly createdAt: Date
  /** The time of the last action of the player, or of the start. */
  readonly lastActionAt: Date
  /** The end of the session that plays the round: its expiry or closing. */
  readonly sittingEndsAt: Date
  readonly updatedAt: Date
  readonly completedAt: Date | null
  readonly history: readonly { readonly at: Date; readonly what: string }[]
}

export type Moved<Amount> = Readonly<Record<'stakes' | 'payouts' | 'refunds', Amount>>

/** The amounts that reports have to add when a change is written, in minor units. */
export type ReportFact = Moved<bigint> & {
  readonly rounds: 0 | 1
  /** The time of a change after the end of the round, on whose day it counts; absent for the end itself. */
  readonly at?: Date
  /** The chances that the round took with this change, for the watch of returns; absent for none. */
  readonly trials?: TakenTrials
}

/** The chances of a round from the number `from` (0 is its first) to before `to`. */
export type TakenTrials = { readonly from: number; readonly to: number }

/** Whether the round blocks the next one of this player in this game. */
export function isUnfinished({ status }: Pick<RoundState, 'status'>): boolean {
  return status === 'PENDING' || status === 'OPEN' || status === 'SETTLING'
}

/** The sums that moved or are on their way, for reports, in minor units. Free stakes never moved. */
export function roundTotals(round: Pick<RoundState, 'stakes' | 'wins'>): Moved<bigint> {
  const taken = round.stakes.filter(({ wasTaken }) => wasTaken)
  return {
    stakes: sum(taken),
    refunds: sum(taken.filter(({ state }) => state === 'RETURNED')),
    payouts: sum(round.wins.filter(({ state }) => state !== 'REVERSED')),
  }
}

export function factOf(before: RoundState, after: RoundState, completes: boolean): ReportFact | null {
  const counted = reportFact(before, after, completes)
  const [from, to] = [trialCount(before), trialCount(after)]
  if (to <= from) return counted
  return { rounds: 0, stakes: 0n, payouts: 0n, refunds: 0n, ...counted, trials: { from, to } }
}

/**
 * The chances that were taken: a draw, or opened tiles. They count once stored: a win whose wallet is
 * silent, or a board that waits, would come later than a loss and bias the watch. Source: docs/rtp-watch.md.
 */
function trialCount({ driver, actions, outcome }: RoundState): number {
  if (driver !== 'game') return 0
  return actions.length > 0 ? actions.length : outcome === null ? 0 : 1
}

/** The share of a change in the reports; null for none. Changes after the end are adjustments. */
function reportFact(before: RoundState, after: RoundState, completes: boolean): ReportFact | null {
  const totals = roundTotals(after)
  if (completes) return { rounds: 1, ...totals }
  if (!before.started || isUnfinished(before)) return null
  const old = roundTotals(before)
  const difference = {
    stakes: totals.stakes - old.stakes,
    payouts: totals.payouts - old.payouts,
    refunds: totals.refunds - old.refunds,
  }
  const none = difference.stakes === 0n && difference.payouts === 0n && difference.refunds === 0n
  return none ? null : { rounds: 0, ...difference, at: after.updatedAt }
}

/** Whether something is owed by the wallet or by us, so that a worker must come back to this round. */
export function owesSomething(round: RoundState): boolean {
  return (
    round.status === 'PENDING' ||
    round.status === 'SETTLING' ||
    round.grantReturn === 'OWED' ||
    openMovementIds(round).length > 0
  )
}

export function movementsOf(round: Pick<RoundState, 'stakes' | 'wins' | 'reversals'>) {
  return [...round.stakes, ...round.wins, ...round.reversals]
}

export function hasMovement(round: RoundState, id: string): boolean {
  return movementsOf(round).some(({ transactionId }) => transactionId === id)
}

type Reversible = Pick<RoundState, 'stakes' | 'reversals'>

/** What the round knows of a stake: taken (refunds included), not taken or rolled back, or nothing. */
export function standingOf({ stakes, reversals }: Reversible, id: string): StakeStanding {
  const stake = stakes.find(({ transactionId }) => transactionId === id)
  if (stake === undefined) return 'unknown'
  const isRefunded = reversals.some(
    ({ type, referenceTransactionId, state }) =>
      type === 'REFUND' && referenceTransactionId === id && state !== 'FAILED',
  )
  const isGivenBack = stake.state === 'RETURNING' || stake.state === 'RETURNED'
  return stake.wasTaken && (!isGivenBack || isRefunded) ? 'taken' : 'not-taken'
}

export function openMovementIds(round: RoundState): string[] {
  return movementsOf(round).flatMap(({ state, transactionId }) =>
    state === 'ASKED' || state === 'OWED' ? [transactionId] : [],
  )
}

export function sum(parts: readonly { readonly minor: bigint }[]): bigint {
  return parts.reduce((total, { minor }) => total + minor, 0n)
}
