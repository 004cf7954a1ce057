import type { Grain } from './report-segments.ts'
import type { ReportDimension } from './report-rows.ts'

/** What was played in one unit of time in one game, currency and brand. Amounts are minor units. */
export type CellSums = {
  readonly rounds: number
  readonly stakes: bigint
  readonly payouts: bigint
  readonly refunds: bigint
}

/** Where a sum or a count belongs; null for what it is not parted by, "" for plays without a brand. */
export type CellPlace = {
  readonly game: string | null
  readonly currency: string
  readonly brand: string | null
}

const parted = '|'
const whole = '*'

/** The sums as text, since a coin's minor units do not fit into an integer of the database. */
export function encodeSums({ rounds, stakes, payouts, refunds }: CellSums): string {
  return [rounds, stakes, payouts, refunds].join(' ')
}

/** @throws Error for a text that `encodeSums` did not write. */
export function decodeSums(text: string): CellSums {
  const [rounds, stakes, payouts, refunds, ...more] = text.split(' ')
  if (rounds === undefined || stakes === undefined || payouts === undefined || refunds === undefined) {
    throw new Error(`"${text}" are no sums`)
  }
  if (more.length > 0) throw new Error(`"${text}" are no sums`)
  return {
    rounds: Number(rounds),
    stakes: BigInt(stakes),
    payouts: BigInt(payouts),
    refunds: BigInt(refunds),
  }
}

export function addSums(a: CellSums, b: CellSums): CellSums {
  return {
    rounds: a.rounds + b.rounds,
    stakes: a.stakes + b.stakes,
    payouts: a.payouts + b.payouts,
    refunds: a.refunds + b.refunds,
  }
}

export function encodePlace({ game, currency, brand }: CellPlace): string {
  return [game ?? whole, currency, brand ?? whole].join(parted)
}

/** @throws Error for a text that `encodePlace` did not write. */
export function decodePlace(text: string): CellPlace {
  const [game, currency, brand, ...more] = text.split(parted)
  if (game === undefined || currency === undefined || brand === undefined || more.length > 0) {
    throw new Error(`"${text}" is no place`)
  }
  return { game: game === whole ? null : game, currency, brand: brand === whole ? null : brand }
}

/**
 * Places in which a player is counted once. Only of days: a report by day needs every count there can be, of coarser or finer units the
 * players themselves are needed, since one who played in two of them is one player.
 */
export function countedPlaces(grain: Grain, { game, currency, brand }: CellPlace): CellPlace[] {
  const finest = { game, currency, brand }
  if (grain !== 'day') return [finest]
  return [
    finest,
    { game: null, currency, brand },
    { game, currency, brand: null },
    { game: null, currency, brand: null },
  ]
}

/** Whether a count at `place` is what a report grouped by `by` shows. */
export function isCountOf({ game, brand }: CellPlace, by: ReadonlySet<ReportDimension>): boolean {
  return (game !== null) === by.has('game') && (brand !== null) === by.has('brand')
}
