export type ReportDimension = 'day' | 'game' | 'currency' | 'brand'

type Place = {
  readonly unit: string
  readonly game: string
  readonly currency: string
  readonly brandId: string | null
}
type Part = Place & {
  readonly rounds: number
  /** Distinct players where they are counted already, else 0. */
  readonly players: number
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

/**
 * Adds parts up by the wanted dimensions. Money of two currencies is never added, so every row has one. Rows
 * are sorted by key, with plays without a brand last.
 */
export function reportRows(
  parts: readonly Part[],
  players: readonly (Place & { readonly playerId: string })[],
  by: ReadonlySet<ReportDimension>,
): ReportRow[] {
  const [byDay, byGame, byBrand] = [by.has('day'), by.has('game'), by.has('brand')]
  const rows = new Map<string, ReportRow>()
  const rowOf = (place: Place): ReportRow => {
    const key = [
      byDay ? place.unit.slice(0, 10) : '',
      byGame ? place.game : '',
      byBrand ? (place.brandId ?? '~') : '',
      place.currency,
    ].join('|')
    const present = rows.get(key)
    if (present !== undefined) return present
    const row: ReportRow = {
      day: byDay ? place.unit.slice(0, 10) : null,
      game: byGame ? place.game : null,
      brandId: byBrand ? place.brandId : null,
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
    row.playersCounted += part.players
    row.stakes += part.stakes
    row.payouts += part.payouts
    row.refunds += part.refunds
  }
  for (const player of players) rowOf(player).players.add(player.playerId)
  return [...rows.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
