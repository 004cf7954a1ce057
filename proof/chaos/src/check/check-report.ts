import { formatAmount, parseAmount } from '@pitboss/money/amount'
import { groupBy } from './group.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  stakes: 'reports: stakes less refunds of a day are what its bets took',
  payouts: 'reports: payouts of a day are what its wins paid',
  ggr: 'reports: ggr is stakes less refunds and payouts, plus adjustments',
  none: 'reports: every row has rounds behind it',
} as const

/**
 * The summary by day and currency against the movements of the rounds that ended then. docs/contract.md,
 * section 11.
 */
export function checkReport(
  { report, rounds, movements, restored }: Pick<Sources, 'report' | 'rounds' | 'movements' | 'restored'>,
  verdict: Verdict,
): void {
  if (report === null) return
  const byRound = groupBy(movements, ({ round_id }) => round_id)
  const rows = new Map(report.map((row) => [`${row.day} ${row.currency}`, row]))
  const ended = groupBy(rounds, ({ completed_at: at, currency }) =>
    at === null ? null : `${at.slice(0, 'yyyy-mm-dd'.length)} ${currency}`,
  )
  for (const [key, own] of ended) {
    const currency = own[0]?.currency ?? ''
    const standing = own
      .flatMap(({ round_id }) => byRound.get(round_id) ?? [])
      .filter(({ status }) => status === 'SUCCESS')
    const sumOf = (type: 'BET' | 'WIN') =>
      standing.reduce(
        (sum, movement) => (movement.type === type ? sum + parseAmount(movement.amount, currency) : sum),
        0n,
      )
    const row = rows.get(key)
    rows.delete(key)
    // Reports went back with the rounds, and do not know what operators did in these since.
    if (own.some(({ round_id }) => restored?.changed.has(round_id) === true)) continue
    const minor = (text = '0') =>
      text.startsWith('-') ? -parseAmount(text.slice(1), currency) : parseAmount(text, currency)
    const held = minor(row?.stakes) - minor(row?.refunds)
    const show = () =>
      `${key}: ${JSON.stringify(row)}; bets ${formatAmount(sumOf('BET'), currency)}, wins ${formatAmount(sumOf('WIN'), currency)}`
    verdict.check(names.stakes, held === sumOf('BET'), show)
    const [payouts, adjustments] = [minor(row?.payouts), minor(row?.adjustments)]
    // A win that is rolled back after midnight is adjusted on a day on which its round did not end.
    const isMoved = report.some((one) => one.currency === currency && typeof one.restated_at === 'string')
    verdict.check(names.payouts, isMoved || payouts - adjustments === sumOf('WIN'), show)
    verdict.check(names.ggr, minor(row?.ggr) === held - payouts + adjustments, show)
  }
  for (const [key, row] of rows) verdict.check(names.none, row.rounds === 0, () => `${key}: ${row.rounds}`)
}
