import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import { dashboardGetReport, getReport } from '@pitboss/contracts/endpoints/rounds'
import { formatAmount } from '@pitboss/money/amount'
import type { Clock } from '@pitboss/runtime/clock'
import { type ReportDimension, type ReportRow, reportRows } from '../rules/report-rows.ts'
import { type Grain, reportSegments } from '../rules/report-segments.ts'
import type { ReportsStore } from '../storage/reports-store.ts'
import { readWindow } from './page.ts'

type ReportsDeps = {
  reports: ReportsStore
  /** Counts what has just ended, so that a report shows what its reader has seen. */
  catchUp: () => Promise<void>
  clock: Clock
}

type ReportQuery = { from?: string | undefined; to?: string | undefined; group_by?: string | undefined }

const dimensions: readonly ReportDimension[] = ['day', 'game', 'currency', 'brand']
const beginning = new Date('2020-01-01T00:00:00.000Z')
const aheadMs = 40 * 24 * 60 * 60 * 1000

/** Sums of money that moved, by the UTC day on which a round ended. Contract section 11 ("Business"). */
export function createReportHandlers({ reports, catchUp, clock }: ReportsDeps): CallHandler[] {
  async function summary({ scope }: Caller, query: ReportQuery) {
    const by = new Set(dimensions.filter((one) => (query.group_by ?? 'day').split(',').includes(one)))
    const window = readWindow(query)
    // Nothing was played before or will have been after: an end that is open or far away is put where whole months still do.
    const from = window.from === undefined || window.from < beginning ? beginning : window.from
    const latest = nextMonth(clock.now())
    // Both ends are inclusive.
    const to = window.to === undefined || window.to >= latest ? latest : new Date(window.to.getTime() + 1)
    const grains: Grain[] = by.has('day') ? ['day', 'hour'] : ['month', 'day', 'hour']
    await catchUp()
    const read = await Promise.all(
      reportSegments(from, to, grains).map((segment) => reports.read(scope, segment, by)),
    )
    const rows = reportRows(
      read.flatMap(({ parts }) => parts),
      read.flatMap(({ players }) => players),
      by,
    )
    return { status: 200, body: { data: rows.map((row) => presentRow(row, by)) } }
  }

  return [
    handler(getReport.call, ({ caller, query }) => summary(caller, query)),
    handler(dashboardGetReport.call, ({ caller, query }) => summary(caller, query)),
  ]
}

function nextMonth(now: Date): Date {
  const ahead = new Date(now.getTime() + aheadMs)
  return new Date(Date.UTC(ahead.getUTCFullYear(), ahead.getUTCMonth(), 1))
}

function presentRow(row: ReportRow, by: ReadonlySet<ReportDimension>) {
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
