import { foldItems, type Sum, type SumStore } from '@pitboss/storage/journal/fold'
import type { Moved } from '../../../rules/round.ts'
import type { RoundFields } from '../../../storage/round-document.ts'
import type { RoundEntry } from '../../../storage/round-stream.ts'
import type { CountedEntry } from '../../../storage/rounds-journal.ts'
import * as report from '../rules/report.ts'
import type { ReportPlayers } from './report-players.ts'
import type { ReportAdjustments } from './reports-store.ts'

const grains: readonly report.Grain[] = ['month', 'day', 'hour']

export type ReportFact = report.CellSums &
  Pick<RoundFields, 'scope' | 'game' | 'currency' | 'brandId' | 'playerId'> & {
    readonly id: string
    readonly at: Date
    /** What changed after the end of the round; null for the end itself. */
    readonly adjusted: (Moved<bigint> & { readonly endedAt: Date }) | null
    readonly entry: RoundEntry
  }

export type UnitGroup = {
  readonly scope: string
  readonly grain: report.Grain
  readonly unit: string
  readonly facts: ReportFact[]
}

export type BringsPlayer = (unitId: string, grouping: report.Grouping, fact: ReportFact) => boolean

/** The facts of an entry that reports count; those with only chances are not among them. */
function reportFacts({ entry, fields, facts }: CountedEntry): ReportFact[] {
  const { scope, game, currency, brandId, playerId, completedAt } = fields
  const endedAt = completedAt ?? fields.updatedAt
  return facts.flatMap<ReportFact>(({ id, rounds, at, ...fact }) => {
    const sums = report.minorSums(fact)
    if (rounds === 0 && Object.values(sums).every((sum) => sum === 0n)) return []
    const place = { entry, id, scope, game, currency, brandId, playerId, rounds }
    if (at === undefined) return [{ ...place, ...sums, adjustments: 0n, at: endedAt, adjusted: null }]
    const later = { adjustments: revenueOf(sums), at, adjusted: { ...sums, endedAt } }
    return [{ ...place, stakes: 0n, payouts: 0n, refunds: 0n, ...later }]
  })
}

export function revenueOf({ stakes, payouts, refunds }: Moved<bigint>): bigint {
  return stakes - refunds - payouts
}

function groupByUnit(facts: readonly ReportFact[]) {
  const groups = new Map<string, UnitGroup>()
  for (const fact of facts) {
    for (const grain of grains) {
      const { scope } = fact
      const unit = report.unitOf(fact.at, grain)
      const id = `${scope}|${grain}|${unit}`
      const group = groups.get(id) ?? { scope, grain, unit, facts: [] }
      group.facts.push(fact)
      groups.set(id, group)
    }
  }
  return groups
}

/** The text of a unit's cells, with further facts. */
function withFacts(
  text: string,
  grouping: report.Grouping,
  facts: readonly ReportFact[],
  brings: (fact: ReportFact) => boolean,
): string {
  const cells = new Map(report.decodeCells(text).map((cell) => [report.placeKey(cell), cell]))
  for (const fact of facts) {
    const place = report.placeIn(grouping, report.placeOf(fact))
    const key = report.placeKey(place)
    const sums = report.addSums(cells.get(key) ?? { ...report.noSums, players: 0 }, fact)
    cells.set(key, { ...place, ...sums, players: sums.players + (brings(fact) ? 1 : 0) })
  }
  return report.encodeCells(cells.values())
}

/** A unit of time with all sums of an account; `applied` was counted by a release before the journal. */
export type UnitDocument = Sum & {
  readonly scope: string
  readonly grain: report.Grain
  readonly unit: string
  readonly cells: Record<report.Grouping, string>
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
  const facts = counted.flatMap(reportFacts)
  const groups = groupByUnit(facts)
  await adjustments.record(facts)
  const brings = await players.record(groups)
  for (const [id, { scope, grain, unit, facts: items }] of groups) {
    await foldItems(sums, id, { items, missing }, (sum, fresh) => {
      const { applied = [], cells } = sum ?? {}
      const added = fresh.filter((fact) => !applied.includes(fact.id))
      const cellsOf = (grouping: report.Grouping) =>
        withFacts(cells?.[grouping] ?? '', grouping, added, (fact) => brings(id, grouping, fact))
      const [currency, game, brand, all] = [
        cellsOf('currency'),
        cellsOf('game'),
        cellsOf('brand'),
        cellsOf('all'),
      ]
      return { scope, grain, unit, cells: { currency, game, brand, all }, applied }
    })
  }
}
