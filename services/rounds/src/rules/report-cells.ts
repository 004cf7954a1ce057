import type { ReportDimension } from './report-rows.ts'

/** What was played in one place. Amounts are minor units. */
export type CellSums = {
  readonly rounds: number
  readonly stakes: bigint
  readonly payouts: bigint
  readonly refunds: bigint
}
/** `players` are distinct ones; only days count them. */
export type Cell = CellSums & { readonly players: number }

/** Where a sum belongs; "" for what its grouping does not part, and for plays without a brand. */
export type CellPlace = { readonly game: string; readonly currency: string; readonly brand: string }

/** What sums are parted by besides the currency, which always parts them: each is kept, so that a report reads no more than it shows. */
export const groupings = ['currency', 'game', 'brand', 'all'] as const
export type Grouping = (typeof groupings)[number]

const columns = 8

/** The grouping that a report by these dimensions needs. */
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
 * Cells as text, a line each: a coin's minor units do not fit into an integer of the database, and a year of texts is read several
 * times faster than a year of nested documents.
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
