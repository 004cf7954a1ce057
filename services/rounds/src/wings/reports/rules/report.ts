import type { Moved, RoundState } from '../../../rules/round.ts'

/** UTC units in which reports are summed; parts of an hour are read from the rounds. */
export type Grain = 'month' | 'day' | 'hour'

/** A part of a window: whole units of one grain, or a rest smaller than an hour. Ends are exclusive. */
export type Segment = { readonly grain: Grain | 'raw'; readonly from: Date; readonly to: Date }

const hourMs = 60 * 60 * 1000

/** Cuts a window into whole units, coarse inside and finer at its ends. @param grains coarse to fine */
export function reportSegments(from: Date, to: Date, grains: readonly Grain[]): Segment[] {
  if (from >= to) return []
  const [grain, ...finer] = grains
  if (grain === undefined) return [{ grain: 'raw', from, to }]
  const first = ceilTo(from, grain)
  const last = floorTo(to, grain)
  if (first >= last) return reportSegments(from, to, finer)
  return [
    ...reportSegments(from, first, finer),
    { grain, from: first, to: last },
    ...reportSegments(last, to, finer),
  ]
}

/** The unit of `at`, as text that sorts by time: "2026-11", "2026-11-20", "2026-11-20T09". */
export function unitOf(at: Date, grain: Grain): string {
  const length = { month: 7, day: 10, hour: 13 }[grain]
  return at.toISOString().slice(0, length)
}

function floorTo(at: Date, grain: Grain): Date {
  if (grain === 'hour') return new Date(Math.floor(at.getTime() / hourMs) * hourMs)
  const day = grain === 'day' ? at.getUTCDate() : 1
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), day))
}

function ceilTo(at: Date, grain: Grain): Date {
  const floor = floorTo(at, grain)
  if (floor.getTime() === at.getTime()) return floor
  if (grain === 'hour') return new Date(floor.getTime() + hourMs)
  if (grain === 'day') return new Date(floor.getTime() + 24 * hourMs)
  return new Date(Date.UTC(floor.getUTCFullYear(), floor.getUTCMonth() + 1, 1))
}

/** The sums of one place, in minor units. */
export type CellSums = Moved<bigint> & {
  readonly rounds: number
  /** Revenue of changes after rounds' ends, on the day of the change; may be negative. */
  readonly adjustments: bigint
}
export const noSums: CellSums = { rounds: 0, stakes: 0n, payouts: 0n, refunds: 0n, adjustments: 0n }
/** Sums with their distinct players, which only days count. */
export type Cell = CellSums & { readonly players: number }

/** The place of a sum; a part is "" when the grouping lacks it, and for plays without a brand. */
export type CellPlace = { readonly game: string; readonly currency: string; readonly brand: string }

/** Divisions beside the currency: a report reads no more than it shows. */
export const groupings = ['currency', 'game', 'brand', 'all'] as const
export type Grouping = (typeof groupings)[number]

/** Cells of earlier releases, and those without adjustments, lack the last. */
const columnsMax = 9
const columnsMin = columnsMax - 1

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

export function placeOf({ game, currency, brandId }: Pick<RoundState, 'game' | 'currency' | 'brandId'>) {
  return { game, currency, brand: brandId ?? '' }
}

export function placeKey({ game, currency, brand }: CellPlace): string {
  return `${game}|${currency}|${brand}`
}

export function addSums<Sums extends CellSums>(a: Sums, b: CellSums): Sums {
  return {
    ...a,
    rounds: a.rounds + b.rounds,
    stakes: a.stakes + b.stakes,
    payouts: a.payouts + b.payouts,
    refunds: a.refunds + b.refunds,
    adjustments: a.adjustments + b.adjustments,
  }
}

export function minorSums({ stakes, payouts, refunds }: Moved<string>): Moved<bigint> {
  return { stakes: BigInt(stakes), payouts: BigInt(payouts), refunds: BigInt(refunds) }
}

/** Encodes cells as text, a line each: coins overflow integers, and texts are read several times faster. */
export function encodeCells(cells: Iterable<CellPlace & Cell>): string {
  return Array.from(
    cells,
    ({ game, currency, brand, rounds, stakes, payouts, refunds, players, adjustments }) =>
      `${game}|${currency}|${brand}|${rounds}|${stakes}|${payouts}|${refunds}|${players}${adjustments === 0n ? '' : `|${adjustments}`}`,
  ).join('\n')
}

/** @throws Error for a text that `encodeCells` did not write. */
export function decodeCells(text: string): (CellPlace & Cell)[] {
  if (text === '') return []
  return text.split('\n').map((line) => {
    const parts = line.split('|')
    const [game = '', currency = '', brand = '', rounds = '', stakes = '', payouts = '', refunds = ''] = parts
    const [players = '', adjustments = '0'] = parts.slice(columnsMin - 1)
    if (parts.length < columnsMin || parts.length > columnsMax) throw new Error(`"${line}" is no cell`)
    return {
      ...{ game, currency, brand, rounds: Number(rounds), players: Number(players) },
      ...minorSums({ stakes, payouts, refunds }),
      adjustments: BigInt(adjustments),
    }
  })
}

export type ReportDimension = 'day' | 'game' | 'currency' | 'brand'

type Place = CellPlace & { readonly unit: string }
/** The sums of a unit in one place. `players` counts distinct ones where they are counted already, else 0. */
export type ReportPart = Place & Cell
export type ReportPlayer = Place & { readonly playerId: string }

export type ReportRow = CellSums & {
  readonly day: string | null
  readonly game: string | null
  readonly brandId: string | null
  readonly currency: string
  readonly players: Set<string>
  /** Players who are not among those that are known by name. */
  readonly playersCounted: number
}

/** Adds parts up by the wanted dimensions and always by currency; sorted by key, no brand last. */
export function reportRows(
  parts: readonly ReportPart[],
  players: readonly ReportPlayer[],
  by: ReadonlySet<ReportDimension>,
): ReportRow[] {
  const [byDay, byGame, byBrand] = [by.has('day'), by.has('game'), by.has('brand')]
  const rows = new Map<string, ReportRow>()
  const change = (place: Place, changed: (row: ReportRow) => ReportRow) => {
    const day = byDay ? place.unit.slice(0, 10) : null
    const game = byGame ? place.game : null
    const brandId = byBrand ? place.brand || null : null
    const { currency } = place
    const key = [day ?? '', game ?? '', byBrand ? (brandId ?? '~') : '', currency].join('|')
    const none = { day, game, brandId, currency, ...noSums, players: new Set<string>(), playersCounted: 0 }
    rows.set(key, changed(rows.get(key) ?? none))
  }
  for (const part of parts)
    change(part, (row) => ({ ...addSums(row, part), playersCounted: row.playersCounted + part.players }))
  for (const { playerId, ...place } of players)
    change(place, (row) => ({ ...row, players: row.players.add(playerId) }))
  return [...rows.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
