import { fold, type Sum, type SumStore } from '@pitboss/storage/journal/fold'
import type { Moved } from '../../../rules/round.ts'
import type { FactEntry, RoundFields } from '../../../storage/round-document.ts'
import type { RoundEntry } from '../../../storage/round-stream.ts'
import type { CountedEntry } from '../../../storage/rounds-journal.ts'
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
  minorSums,
  noSums,
  placeIn,
  placeKey,
  placeOf,
  unitOf,
} from '../rules/report.ts'
import type { ReportPlayers } from './report-players.ts'
import type { ReportAdjustments } from './reports-store.ts'

const grains: readonly Grain[] = ['month', 'day', 'hour']
const noCells: CellTexts = { currency: '', game: '', brand: '', all: '' }
export type PendingFact = CellSums &
  Pick<RoundFields, 'scope' | 'game' | 'currency' | 'brandId' | 'playerId'> & {
    readonly id: string
    readonly at: Date
    /** What changed after the end of the round; null for the end itself. */
    readonly adjusted: (Moved<bigint> & { readonly endedAt: Date }) | null
  }

type CountedFact = PendingFact & { readonly entry: RoundEntry }

export type UnitGroup<Fact extends PendingFact = PendingFact> = {
  readonly scope: string
  readonly grain: Grain
  readonly unit: string
  readonly facts: Fact[]
}

export type CellTexts = Record<Grouping, string>

export type PlayersOfUnit = {
  /** The number of players that these facts brought to a place of the unit. */
  broughtTo(unit: string, grouping: Grouping, key: string, facts: readonly PendingFact[]): number
}

/** The facts of an entry that reports count; those with only chances are not among them. */
function countedFacts({ entry, fields, facts }: CountedEntry): CountedFact[] {
  const { scope, game, currency, brandId, playerId, completedAt } = fields
  const endedAt = completedAt ?? fields.updatedAt
  return facts.filter(isReported).map(({ id, rounds, at, ...fact }) => {
    const sums = minorSums(fact)
    const place = { entry, id, scope, game, currency, brandId, playerId, rounds }
    if (at === undefined) return { ...place, ...sums, adjustments: 0n, at: endedAt, adjusted: null }
    const later = { adjustments: revenueOf(sums), at, adjusted: { ...sums, endedAt } }
    return { ...place, stakes: 0n, payouts: 0n, refunds: 0n, ...later }
  })
}

export function revenueOf({ stakes, payouts, refunds }: Moved<bigint>): bigint {
  return stakes - refunds - payouts
}

function isReported({ rounds, stakes, payouts, refunds }: FactEntry): boolean {
  return rounds > 0 || [stakes, payouts, refunds].some((sum) => sum !== '0')
}

function groupByUnit(facts: readonly CountedFact[]) {
  const groups = new Map<string, UnitGroup<CountedFact>>()
  for (const fact of facts) {
    for (const grain of grains) {
      const { scope } = fact
      const unit = unitOf(fact.at, grain)
      const id = `${scope}|${grain}|${unit}`
      const group = groups.get(id) ?? { scope, grain, unit, facts: [] }
      group.facts.push(fact)
      groups.set(id, group)
    }
  }
  return groups
}

function withFacts(id: string, texts: CellTexts = noCells, facts: PendingFact[], known: PlayersOfUnit) {
  const next = { ...texts }
  for (const grouping of groupings) {
    const cells = new Map<string, CellPlace & Cell>(
      decodeCells(texts[grouping]).map((cell) => [placeKey(cell), cell]),
    )
    const touched = new Set<string>()
    for (const fact of facts) {
      const place = placeIn(grouping, placeOf(fact))
      const key = placeKey(place)
      cells.set(key, { ...place, ...addSums(cells.get(key) ?? { ...noSums, players: 0 }, fact) })
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

/** A unit of time with all sums of an account; `applied` was counted by a release before the journal. */
export type UnitDocument = Sum & {
  readonly scope: string
  readonly grain: Grain
  readonly unit: string
  readonly cells: CellTexts
  readonly applied?: readonly string[]
}

type ReportStores = {
  readonly sums: SumStore<UnitDocument>
  readonly players: Pick<ReportPlayers, 'record'>
  readonly adjustments: Pick<ReportAdjustments, 'record'>
}

export async function foldUnits(
  { sums, players, adjustments }: ReportStores,
  counted: readonly CountedEntry[],
  missing: readonly number[],
): Promise<void> {
  const facts = counted.flatMap(countedFacts)
  const groups = groupByUnit(facts)
  await adjustments.record(facts)
  const known = await players.record(groups)
  for (const [id, { scope, grain, unit, facts: ofUnit }] of groups) {
    const entries = [...new Set(ofUnit.map(({ entry }) => entry))]
    await fold(sums, id, { entries, missing }, (sum, fresh) => {
      const isFresh = new Set(fresh)
      const applied = sum?.applied ?? []
      const added = ofUnit.filter(({ entry, id }) => isFresh.has(entry) && !applied.includes(id))
      return { scope, grain, unit, cells: withFacts(id, sum?.cells, added, known), applied }
    })
  }
}
