import type { SessionTimes } from '../../../rules/live-rules.ts'
import { isUnfinished, type RoundState, roundTotals } from '../../../rules/round.ts'

/** The time over which a limit counts: a day, a week from Monday or a month, of UTC. */
export type Period = 'day' | 'week' | 'month'
export const periods: readonly Period[] = ['day', 'week', 'month']

/** Wait before a limit is loosened. Source: docs/contract.md, section 4, "Limits of a player". */
export const coolingMs = 24 * 60 * 60 * 1000

/** A limit of one player. `value` is minor units of `currency`, of time it is minutes. */
export type PlayerLimit = {
  readonly kind: 'loss' | 'stake' | 'time'
  readonly period: Period
  readonly currency: string | null
  readonly value: bigint
  /** The value from `at` on; null in it for no limit any more. */
  readonly next: { readonly value: bigint | null; readonly at: Date } | null
}

export type WantedLimit = Omit<PlayerLimit, 'next'>

/** The running period at `now`, its end excluded. */
export function periodAt(period: Period, now: Date): { from: Date; to: Date } {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const at = (y: number, m: number, d: number) => new Date(Date.UTC(y, m, d))
  if (period === 'month') return { from: at(year, month, 1), to: at(year, month + 1, 1) }
  if (period === 'day') return { from: at(year, month, day), to: at(year, month, day + 1) }
  const monday = day - ((now.getUTCDay() + 6) % 7)
  return { from: at(year, month, monday), to: at(year, month, monday + 7) }
}

export function limitKey({ kind, period, currency }: WantedLimit): string {
  return [kind, period, ...(currency === null ? [] : [currency])].join(' ')
}

/** The limits in force at `now`: what has cooled down has taken its place. */
export function limitsAt(limits: readonly PlayerLimit[], now: Date): PlayerLimit[] {
  return limits.flatMap((limit) => {
    if (limit.next === null || limit.next.at > now) return [limit]
    return limit.next.value === null ? [] : [{ ...limit, value: limit.next.value, next: null }]
  })
}

/**
 * The limits after a player's limits were set to `wanted`. A lower or a new one is in force at once. A higher
 * one, or its removal, waits for `coolingMs`; asking for the same again, or for less of a raise, does not
 * restart that wait. Source: docs/contract.md, section 4, "Limits of a player".
 */
export function changeLimits(limits: readonly PlayerLimit[], wanted: readonly WantedLimit[], now: Date) {
  const before = new Map(limitsAt(limits, now).map((limit) => [limitKey(limit), limit]))
  const asked = wanted.map((want): PlayerLimit => {
    const old = before.get(limitKey(want))
    if (old === undefined || want.value <= old.value) return { ...want, next: null }
    return { ...old, next: loosened(old, want.value, now) }
  })
  const named = new Set(wanted.map(limitKey))
  const dropped = [...before.values()].filter((old) => !named.has(limitKey(old)))
  return [...asked, ...dropped.map((old) => ({ ...old, next: loosened(old, null, now) }))]
}

function loosened({ next }: PlayerLimit, value: bigint | null, now: Date) {
  const waits = next !== null && (next.value === null || (value !== null && value <= next.value))
  return { value, at: waits ? next.at : new Date(now.getTime() + coolingMs) }
}

export const minuteMs = 60_000

/** Milliseconds with a session open. Source: docs/contract.md, section 4, "Limits of a player". */
export function playedMs(sessions: readonly SessionTimes[], from: Date, now: Date): number {
  const spans = sessions
    .map(({ createdAt, expiresAt, closedAt }) => ({
      from: Math.max(createdAt.getTime(), from.getTime()),
      to: Math.min((closedAt ?? expiresAt).getTime(), expiresAt.getTime(), now.getTime()),
    }))
    .toSorted((a, b) => a.from - b.from)
  let [played, reached] = [0, Number.NEGATIVE_INFINITY]
  for (const span of spans) {
    const begin = Math.max(span.from, reached)
    if (span.to <= begin) continue
    played += span.to - begin
    reached = span.to
  }
  return played
}

/** A stake of a player who has limits, from its intent until its round is over. Minor units. */
export type Charge = {
  readonly transactionId: string
  readonly roundId: string
  readonly currency: string
  readonly minor: bigint
  readonly at: Date
}

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
 * The book after what is known of its rounds. A stake that was taken back, refused or given back has never
 * counted. Of a round that is over each stake counts in the periods in which it was charged, and the payout
 * in those of the first that was taken. Sums older than the last period are dropped. @param rounds read after
 * the book; one that is missing was taken back, since a charge follows its round
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
export function usedOf({ charges, sums }: LimitBook, limit: PlayerLimit, now: Date): bigint {
  const { kind, period, currency } = limit
  if (currency === null) return 0n
  const { from } = periodAt(period, now)
  const over = sums.find((one) => isSum(one, { currency, period, from }))
  const open = charges
    .filter((charge) => charge.currency === currency && charge.at >= from)
    .reduce((sum, { minor }) => sum + minor, 0n)
  return open + (over?.stakes ?? 0n) - (kind === 'loss' ? (over?.payouts ?? 0n) : 0n)
}

type Asked = Pick<Charge, 'currency' | 'minor'>

/** The first limit of money that `stake` would exceed at `now`, with what is left of it; null for none. */
export function exceededLimit(limits: readonly PlayerLimit[], book: LimitBook, stake: Asked, now: Date) {
  for (const limit of limits) {
    if (limit.kind === 'time' || limit.currency !== stake.currency) continue
    const left = limit.value - usedOf(book, limit, now)
    if (stake.minor > left) return { limit, left: left > 0n ? left : 0n }
  }
  return null
}
