export type ReportDimension = 'day' | 'game' | 'currency' | 'brand'

type Place = {
  readonly unit: string
  readonly game: string
  readonly currency: string
  readonly brandId: string | null
}
type Part = Place & {
  readonly rounds: number
  readonly stakes: bigint
  readonly payouts: bigint
  readonly refunds: bigint
}

export type ReportRow = {
  readonly day: string | null
  readonly game: string | null
  readonly brandId: string | null
  readonly currency: string
  rounds: number
  /** Distinct players of the parts in which they are known by name. */
  readonly players: Set<string>
  /** Distinct players of the parts in which they were counted already. */
  playersCounted: number
  stakes: bigint
  payouts: bigint
  refunds: bigint
}

/** Adds parts up by the wanted dimensions; money of two currencies is never added, so every row has one. Sorted by key. */
export function reportRows(
  parts: readonly Part[],
  players: readonly (Place & { readonly playerId: string })[],
  playerCounts: readonly (Place & { readonly count: number })[],
  by: ReadonlySet<ReportDimension>,
): ReportRow[] {
  const rows = new Map<string, ReportRow>()
  const rowOf = (place: Place): ReportRow => {
    const key = JSON.stringify([
      by.has('day') ? place.unit.slice(0, 10) : null,
      by.has('game') ? place.game : null,
      by.has('brand') ? place.brandId : null,
      place.currency,
    ])
    const present = rows.get(key)
    if (present !== undefined) return present
    const row: ReportRow = {
      day: by.has('day') ? place.unit.slice(0, 10) : null,
      game: by.has('game') ? place.game : null,
      brandId: by.has('brand') ? place.brandId : null,
      currency: place.currency,
      rounds: 0,
      players: new Set(),
      playersCounted: 0,
      stakes: 0n,
      payouts: 0n,
      refunds: 0n,
    }
    rows.set(key, row)
    return row
  }
  for (const part of parts) {
    const row = rowOf(part)
    row.rounds += part.rounds
    row.stakes += part.stakes
    row.payouts += part.payouts
    row.refunds += part.refunds
  }
  for (const player of players) rowOf(player).players.add(player.playerId)
  for (const { count, ...place } of playerCounts) rowOf(place).playersCounted += count
  return [...rows.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
