import { decodeCells, reportRows, type ReportRow } from '@pitboss/rounds/wings/reports/rules/report'
import {
  groupByUnit,
  type PendingFact,
  pendingFacts,
  withFacts,
} from '@pitboss/rounds/wings/reports/storage/report-facts'
import type { RoundWrite } from '@pitboss/rounds/storage/round-document'
import { newDocument } from '@pitboss/rounds/storage/write-round'

export type ModelReports = {
  /** A change of a round is written, with what it leaves for the reports. */
  roundWritten(write: RoundWrite, now: Date): void
  /** The report by day, game and brand. */
  rows(): ReportRow[]
}

/**
 * The reports: what rounds have left for them, added up by the product's own rules. How facts get from
 * rounds to units, and distinct players, are not simulated.
 */
export function createModelReports(): ModelReports {
  const facts: PendingFact[] = []
  return {
    roundWritten: (write, now) => void facts.push(...pendingFacts(newDocument(write, now))),
    rows() {
      const days = [...groupByUnit(facts)].filter(([, { grain }]) => grain === 'day')
      const parts = days.flatMap(([id, { unit, facts: own }]) =>
        decodeCells(withFacts(id, undefined, own, { broughtTo: () => 0 }).all).map(({ brand, ...cell }) => ({
          ...{ unit, ...cell },
          brandId: brand || null,
        })),
      )
      return reportRows(parts, [], new Set(['day', 'game', 'brand']))
    },
  }
}
