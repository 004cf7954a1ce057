import { sumsWith } from '@pitboss/bugs/rounds-journal-bugs'
import type { HasBug } from '@pitboss/bugs/bugs'
import type { FactFold } from '@pitboss/rounds/storage/rounds-journal'
import { decodeCells, reportRows, type ReportRow } from '@pitboss/rounds/wings/reports/rules/report'
import { foldUnits, type UnitDocument } from '@pitboss/rounds/wings/reports/storage/report-facts'
import type { Machine } from './machine.ts'
import type { ModelInstances } from './model-instances.ts'

export type ModelReports = {
  /** The product's own fold, over the model's units of time. */
  foldOf(machine: Machine): FactFold['fold']
  /** The report by day, game and brand. */
  rows(): ReportRow[]
  /** Remembers the units as they are. @returns the function that brings them back */
  backUp(): () => void
}

/**
 * The reports: sums that entries are folded into. Distinct players and adjustments by round are not
 * simulated.
 */
export function createModelReports({
  instances,
  has,
}: {
  instances: Pick<ModelInstances, 'table'>
  has: HasBug
}): ModelReports {
  const units = new Map<string, UnitDocument>()
  return {
    foldOf(machine) {
      const sums = sumsWith<UnitDocument>(
        {
          read: (id) => machine.io('read unit', () => units.get(id) ?? null),
          write: (unit) =>
            machine.io('write unit', () => {
              if ((units.get(unit._id)?.version ?? 0) !== unit.version - 1) return false
              units.set(unit._id, unit)
              return true
            }),
          readKnown: () => machine.io('read instances', () => [...instances.table.keys()]),
        },
        has,
      )
      const players = { record: async () => () => false }
      const adjustments = { record: async () => undefined }
      return (counted, missing) => foldUnits({ sums, players, adjustments }, counted, missing)
    },
    rows() {
      const parts = [...units.values()]
        .filter(({ grain }) => grain === 'day')
        .flatMap(({ unit, cells }) => decodeCells(cells.all).map((cell) => ({ unit, ...cell })))
      return reportRows(parts, [], new Set(['day', 'game', 'brand']))
    },
    backUp() {
      const backup = new Map(units)
      return () => {
        units.clear()
        for (const [id, unit] of backup) units.set(id, unit)
      }
    },
  }
}
