import { fold, type Sum, type SumStore } from '@pitboss/storage/journal/fold'
import type { Grain } from '../rules/report.ts'
import type { CountedEntry } from '../../../storage/counted-entries.ts'
import type { RoundEntry } from '../../../storage/round-stream.ts'
import type { ReportAdjustments } from './report-adjustments.ts'
import { type CellTexts, countedFacts, groupByUnit, withFacts } from './report-facts.ts'
import type { ReportPlayers } from './report-players.ts'

/**
 * A unit of time with all sums of an account. Each entry counts once; facts in `applied` a release before the
 * journal has counted.
 */
export type UnitDocument = Sum & {
  readonly scope: string
  readonly grain: Grain
  readonly unit: string
  readonly cells: CellTexts
  readonly applied?: readonly string[]
}

/** Creates the fold of entries into units of time, each entry once in every unit. */
export function createUnitsFold({
  sums,
  players,
  adjustments,
}: {
  sums: SumStore<UnitDocument>
  players: Pick<ReportPlayers, 'record'>
  adjustments: Pick<ReportAdjustments, 'record'>
}) {
  return async (counted: readonly CountedEntry[], missing: readonly number[]): Promise<void> => {
    const entryOf = new Map<string, RoundEntry>()
    const facts = counted.flatMap((one) => {
      const found = countedFacts(one)
      for (const { id } of found) entryOf.set(id, one.entry)
      return found
    })
    const groups = groupByUnit(facts)
    await adjustments.record(facts)
    const known = await players.record(groups)
    for (const [id, { scope, grain, unit, facts: ofUnit }] of groups) {
      const [first, ...others] = new Set(ofUnit.flatMap((fact) => entryOf.get(fact.id) ?? []))
      if (first === undefined) continue
      await fold(sums, id, { entries: [first, ...others], missing }, (sum, fresh) => {
        const isFresh = new Set<RoundEntry | undefined>(fresh)
        const applied = sum?.applied ?? []
        const added = ofUnit.filter(({ id }) => isFresh.has(entryOf.get(id)) && !applied.includes(id))
        return { scope, grain, unit, cells: withFacts(id, sum?.cells, added, known), applied }
      })
    }
  }
}
