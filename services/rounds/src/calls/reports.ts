import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { dashboardGetReport, getReport } from '@pitboss/contracts/endpoints/rounds'
import type { ReadReport } from '../actions/read-reports.ts'
import { presentReportRow } from '../records/present-report.ts'

/** Calls for reports: sums of money that moved. Source: docs/contract.md, section 11, "Business". */
export function createReportHandlers({ readReport }: { readReport: ReadReport }): CallHandler[] {
  async function report(...asked: Parameters<ReadReport>) {
    const { rows, by } = await readReport(...asked)
    return { status: 200, body: { data: rows.map((row) => presentReportRow(row, by)) } }
  }

  return [
    handler(getReport.call, ({ caller, query }) => report(caller, query)),
    handler(dashboardGetReport.call, ({ caller, query }) => report(caller, query)),
  ]
}
