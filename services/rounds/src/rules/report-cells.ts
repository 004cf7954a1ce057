import type { ReportDimension } from './report-rows.ts'

/** The sums of one place, in minor units. */
export type CellSums = {
  readonly rounds: number
  readonly stakes: bigint
  readonly payouts: bigint
  readonly refunds: bigint
}
/** Sums with their distinct players, which only days count. */
export type Cell = CellSums & { readonly players: number }

/**
 * The place of a sum; a part is "" when the grouping does not divide by it, and for plays without a brand.
 */
export type CellPlace = { readonly game: string; readonly currency: string; readonly brand: string }

/**
 * The divisions that are kept, besides the currency, which always divides: a report reads no more than it
 * shows.
 */
export const groupings = ['currency', 'game', 'brand', 'all'] as const
export type Grouping = (typeof groupings)[number]

const columns = 8

/** The grouping for a report by these dimensions. */
export function groupingOf(by: ReadonlySet<ReportDimension>): Grouping {
  if (by.has('game')) return by.has('brand') ? 'all' : 'game'
  return by.has('brand') ? 'brand' : 'currency'
}

export function placeIn(grouping: Grouping, { game, currency, brand }: CellPlace): CellPlace {
  return {
    game: grouping === 'game' || grouping === 'all' ? game : '',
    currency,
    brand: grouping === 'brand' || grouping === 'all' ? brand : '',
  }
}

export function placeKey({ game, currency, brand }: CellPlace): string {
  return `${game}|${currency}|${brand}`
}

export function addSums(a: Cell, b: CellSums): Cell {
  return {
    rounds: a.rounds + b.rounds,
    stakes: a.stakes + b.stakes,
    payouts: a.payouts + b.payouts,
    refunds: a.refunds + b.refunds,
    players: a.players,
  }
}

/**
 * Encodes cells as text, a line each. Minor units of a coin do not fit into an integer of the database, and a
 * year of texts is read several times faster than a year of nested documents.
 */
export function encodeCells(cells: Iterable<CellPlace & Cell>): string {
  return Array.from(
    cells,
    ({ game, currency, brand, rounds, stakes, payouts, refunds, players }) =>
      `${game}|${currency}|${brand}|${rounds}|${stakes}|${payouts}|${refunds}|${players}`,
  ).join('\n')
}

/** @throws Error for a text that `encodeCells` did not write. */
export function decodeCells(text: string): (CellPlace & Cell)[] {
  if (text === '') return []
  return text.split('\n').map((line) => {
    const parts = line.split('|')
    const [game = '', currency = '', brand = '', rounds = '', stakes = '', payouts = '', refunds = ''] = parts
    if (parts.length !== columns) throw new Error(`"${line}" is no cell`)
    return {
      game,
      currency,
      brand,
      rounds: Number(rounds),
      stakes: BigInt(stakes),
      payouts: BigInt(payouts),
      refunds: BigInt(refunds),
      players: Number(parts[columns - 1]),
    }
  })
}
