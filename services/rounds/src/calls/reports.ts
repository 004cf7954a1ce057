import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { dashboardGetReport, getReport } from '@pitboss/contracts/endpoints/rounds'
import { formatAmount } from '@pitboss/money/amount'
import type { ReadReport } from '../actions/read-reports.ts'

type Report = Awaited<ReturnType<ReadReport>>

/** Calls for reports: sums of money that moved. Source: docs/contract.md, section 11, "Business". */
export function createReportHandlers({ readReport }: { readReport: ReadReport }): CallHandler[] {
  async function report(...asked: Parameters<ReadReport>) {
    const { rows, ...more } = await readReport(...asked)
    return { status: 200, body: { data: rows.map((row) => presentReportRow(row, more)) } }
  }

  return [
    handler(getReport.call, ({ caller, query }) => report(caller, query)),
    handler(dashboardGetReport.call, ({ caller, query }) => report(caller, query)),
  ]
}

/**
 * One row of a report; `ggr` is stakes less refunds and payouts, and the adjustments. Source:
 * docs/contract.md, section 11.
 */
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
