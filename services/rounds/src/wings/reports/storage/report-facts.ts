import {
  addSums,
  type Cell,
  type CellPlace,
  type CellSums,
  decodeCells,
  encodeCells,
  type Grain,
  type Grouping,
  groupings,
  placeIn,
  placeKey,
  unitOf,
} from '../rules/report.ts'
import type { CountedEntry } from '../../../storage/counted-entries.ts'
import type { FactEntry } from '../../../storage/round-document.ts'

const grains: readonly Grain[] = ['month', 'day', 'hour']
const noCells: CellTexts = { currency: '', game: '', brand: '', all: '' }
const nothing: Cell = { rounds: 0, stakes: 0n, payouts: 0n, refunds: 0n, adjustments: 0n, players: 0 }

export type PendingFact = CellSums & {
  readonly id: string
  readonly scope: string
  readonly game: string
  readonly currency: string
  readonly brandId: string | null
  readonly playerId: string
  readonly at: Date
  /** What changed after the end of the round; null for the end itself. */
  readonly adjusted: (Record<'stakes' | 'payouts' | 'refunds', bigint> & { readonly endedAt: Date }) | null
}

export type UnitGroup = {
  readonly scope: string
  readonly grain: Grain
  readonly unit: string
  readonly facts: PendingFact[]
}

/** Sums and distinct players of every grouping, as `encodeCells` writes them. */
export type CellTexts = Record<Grouping, string>

export type PlayersOfUnit = {
  /** The number of players that these facts brought to a place of the unit. */
  broughtTo(unit: string, grouping: Grouping, key: string, facts: readonly PendingFact[]): number
}

/** The facts of an entry that reports count; those of chances alone are not among them. */
export function countedFacts({ fields, facts }: Pick<CountedEntry, 'fields' | 'facts'>): PendingFact[] {
  const { scope, game, currency, brandId, playerId, completedAt } = fields
  const endedAt = completedAt ?? fields.updatedAt
  return facts.filter(isReported).map((fact) => {
    const sums = {
      stakes: BigInt(fact.stakes),
      payouts: BigInt(fact.payouts),
      refunds: BigInt(fact.refunds),
    }
    const { id, rounds, at } = fact
    const place = { id, scope, game, currency, brandId, playerId, rounds }
    return at === undefined
      ? { ...place, ...sums, adjustments: 0n, at: endedAt, adjusted: null }
      : {
          ...{ ...place, stakes: 0n, payouts: 0n, refunds: 0n },
          ...{ adjustments: revenueOf(sums), at, adjusted: { ...sums, endedAt } },
        }
  })
}

export function revenueOf({ stakes, payouts, refunds }: Pick<CellSums, 'stakes' | 'payouts' | 'refunds'>) {
  return stakes - refunds - payouts
}

function isReported({ rounds, stakes, payouts, refunds }: FactEntry): boolean {
  return rounds > 0 || [stakes, payouts, refunds].some((sum) => sum !== '0')
}

/** Groups facts by unit: every fact goes into one unit of each grain. */
export function groupByUnit(facts: readonly PendingFact[]): Map<string, UnitGroup> {
  const groups = new Map<string, UnitGroup>()
  for (const fact of facts) {
    for (const grain of grains) {
      const { scope } = fact
      const unit = unitOf(fact.at, grain)
      const id = unitId(scope, grain, unit)
      const group = groups.get(id) ?? { scope, grain, unit, facts: [] }
      group.facts.push(fact)
      groups.set(id, group)
    }
  }
  return groups
}

function unitId(scope: string, grain: Grain, unit: string): string {
  return `${scope}|${grain}|${unit}`
}

export function placeOf({ game, currency, brandId }: PendingFact): CellPlace {
  return { game, currency, brand: brandId ?? '' }
}

export function withFacts(
  id: string,
  texts: CellTexts = noCells,
  facts: readonly PendingFact[],
  known: PlayersOfUnit,
): CellTexts {
  const next = { ...texts }
  for (const grouping of groupings) {
    const cells = new Map<string, CellPlace & Cell>(
      decodeCells(texts[grouping]).map((cell) => [placeKey(cell), cell]),
    )
    const touched = new Set<string>()
    for (const fact of facts) {
      const place = placeIn(grouping, placeOf(fact))
      const key = placeKey(place)
      cells.set(key, { ...place, ...addSums(cells.get(key) ?? nothing, fact) })
      touched.add(key)
    }
    for (const key of touched) {
      const cell = cells.get(key)
      if (cell === undefined) continue
      cells.set(key, { ...cell, players: cell.players + known.broughtTo(id, grouping, key, facts) })
    }
    next[grouping] = encodeCells(cells.values())
  }
  return next
}
