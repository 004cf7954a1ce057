import { answer, type CallHandler, handlers } from '@pitboss/bus/serve-calls'
import { dashboardGetReport, getReport } from '@pitboss/contracts/endpoints/rounds'
import { formatAmount } from '@pitboss/money/amount'
import { type Report, readReport } from '../actions/read-report.ts'
import type { ReportsContext } from '../context.ts'

/** Calls for reports: sums of money that moved. Source: docs/contract.md, section 11, "Business". */
export function reportCalls(context: ReportsContext): CallHandler[] {
  return handlers([getReport.call, dashboardGetReport.call], async ({ caller, query }) => {
    const { rows, ...more } = await readReport(context, caller, query)
    return answer({ data: rows.map((row) => presentReportRow(row, more)) })
  })
}

/** `ggr` is stakes less refunds and payouts, and the adjustments. Source: docs/contract.md, section 11. */
function presentReportRow(row: Report['rows'][number], { by, restatedAt }: Omit<Report, 'rows'>) {
  const { currency, stakes, payouts, refunds, adjustments } = row
  const amountOf = (minor: bigint) => formatAmount(minor, currency)
  return {
    ...(row.day === null ? {} : { day: row.day }),
    ...(row.game === null ? {} : { game: row.game }),
    ...(by.has('brand') ? { brand: row.brandId } : {}),
    currency,
    rounds: row.rounds,
    players: row.players.size + row.playersCounted,
    stakes: amountOf(stakes),
    payouts: amountOf(payouts),
    refunds: amountOf(refunds),
    adjustments: amountOf(adjustments),
    ggr: amountOf(stakes - refunds - payouts + adjustments),
    ...(row.day === null ? {} : { restated_at: restatedAt(row)?.toISOString() ?? null }),
  }
}
