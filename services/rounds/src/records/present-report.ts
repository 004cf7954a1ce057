import { formatAmount } from '@pitboss/money/amount'
import type { ReportDimension, ReportRow } from '../rules/report-rows.ts'

/** One row of a report; `ggr` is stakes less refunds and payouts. Source: docs/contract.md, section 11. */
export function presentReportRow(row: ReportRow, by: ReadonlySet<ReportDimension>) {
  const { currency, stakes, payouts, refunds } = row
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
    ggr: amountOf(stakes - refunds - payouts),
  }
}
