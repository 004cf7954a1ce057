import { type PlayerLimit, type Period, periodAt, periods } from './player-limits.ts'
import { isUnfinished, type RoundState, roundTotals } from '../../../rules/round.ts'

/** A stake of a player who has limits, from its intent until its round is over. Minor units. */
export type Charge = {
  readonly transactionId: string
  readonly roundId: string
  readonly currency: string
  readonly minor: bigint
  readonly at: Date
}

/** Whether both charges are for the same stake, which counts once. */
export function isOfStake(one: Charge, { transactionId, roundId }: Charge): boolean {
  return one.transactionId === transactionId && one.roundId === roundId
}

/** What the rounds that are over have moved in the period that began at `from`. Minor units. */
export type Sum = {
  readonly currency: string
  readonly period: Period
  readonly from: Date
  readonly stakes: bigint
  readonly payouts: bigint
}

/** What counts towards the limits of one player. One document holds it, so one write decides. */
export type LimitBook = { readonly charges: readonly Charge[]; readonly sums: readonly Sum[] }

export const emptyBook: LimitBook = { charges: [], sums: [] }

export type ChargedRound = Pick<RoundState, 'id' | 'status' | 'stakes' | 'wins'>

/**
 * The book after what is known of its rounds. A stake whose intent was taken back, or that was refused or
 * given back, has never counted. Of a round that is over each stake counts in the periods in which it was
 * charged, and what was paid in those of the first that was taken. All others stay charged. Sums of the
 * period before the last are dropped.
 * @param rounds the rounds of the charges, read after the book; one that is missing was taken back, since a
 * stake is charged after its round was stored
 */
export function settleCharges(book: LimitBook, rounds: readonly ChargedRound[], now: Date): LimitBook {
  const known = new Map(rounds.map((round) => [round.id, round]))
  const charges = book.charges.filter((charge) => {
    const round = known.get(charge.roundId)
    return round !== undefined && isUnfinished(round) && stakeOf(round, charge) !== null
  })
  const sums = rounds
    .filter((round) => !isUnfinished(round))
    .flatMap((round) => sumsOf(round, book.charges))
    .reduce(addSum, book.sums)
  return { charges, sums: sums.filter(({ period, from }) => isKept(period, from, now)) }
}

/** The stake that was charged; null for one that was not taken and never will be, or was given back. */
function stakeOf({ stakes }: ChargedRound, { transactionId }: Charge): bigint | null {
  const stake = stakes.find((one) => one.transactionId === transactionId)
  return stake === undefined || stake.state === 'REFUSED' || stake.state === 'RETURNED' ? null : stake.minor
}

function wasTaken({ stakes }: ChargedRound, { transactionId }: Charge): boolean {
  return stakes.some((one) => one.transactionId === transactionId && one.wasTaken)
}

function sumsOf(round: ChargedRound, all: readonly Charge[]): Sum[] {
  const own = all.filter(({ roundId }) => roundId === round.id)
  // Earlier releases could charge a stake several times.
  const charges = own.filter((charge, at) => own.findIndex((one) => isOfStake(one, charge)) === at)
  // A process that stood still can charge a stake that was never taken after the round was counted.
  const first = charges.find((charge) => wasTaken(round, charge))
  return charges.flatMap((charge) => {
    const { currency, at } = charge
    const stakes = stakeOf(round, charge) ?? 0n
    const payouts = charge === first ? roundTotals(round).payouts : 0n
    return periods.map((period) => ({ currency, period, from: periodAt(period, at).from, stakes, payouts }))
  })
}

function addSum(sums: readonly Sum[], more: Sum): readonly Sum[] {
  const same = sums.find((one) => isSum(one, more))
  if (same === undefined) return [...sums, more]
  const { stakes, payouts } = more
  return sums.map((one) =>
    one === same ? { ...one, stakes: one.stakes + stakes, payouts: one.payouts + payouts } : one,
  )
}

function isSum(one: Sum, { currency, period, from }: Pick<Sum, 'currency' | 'period' | 'from'>): boolean {
  return one.currency === currency && one.period === period && one.from.getTime() === from.getTime()
}

/** Whether a period is the running one or the one before it, in which a round may still end. */
function isKept(period: Period, from: Date, now: Date): boolean {
  const running = periodAt(period, now).from
  return from >= periodAt(period, new Date(running.getTime() - 1)).from
}

/** What counts towards a limit of money, in minor units. A stake of an open round counts as lost. */
export function usedOf(
  { charges, sums }: LimitBook,
  { kind, period, currency }: PlayerLimit,
  now: Date,
): bigint {
  if (currency === null) return 0n
  const { from } = periodAt(period, now)
  const over = sums.find((one) => isSum(one, { currency, period, from }))
  const open = charges
    .filter((charge) => charge.currency === currency && charge.at >= from)
    .reduce((sum, { minor }) => sum + minor, 0n)
  return open + (over?.stakes ?? 0n) - (kind === 'loss' ? (over?.payouts ?? 0n) : 0n)
}

/** The first limit of money that `stake` would exceed at `now`, with what is left of it; null for none. */
export function exceededLimit(
  limits: readonly PlayerLimit[],
  book: LimitBook,
  stake: Pick<Charge, 'currency' | 'minor'>,
  now: Date,
): { limit: PlayerLimit; left: bigint } | null {
  for (const limit of limits) {
    if (limit.kind === 'time' || limit.currency !== stake.currency) continue
    const left = limit.value - usedOf(book, limit, now)
    if (stake.minor > left) return { limit, left: left > 0n ? left : 0n }
  }
  return null
}
