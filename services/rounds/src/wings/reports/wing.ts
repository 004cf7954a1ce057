import { answer, handlers } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import { dashboardGetReport, getReport } from '@pitboss/contracts/endpoints/rounds'
import { formatAmount } from '@pitboss/money/amount'
import { createMailbox, type Mailbox } from '@pitboss/runtime/mailbox'
import { readWindow, type WindowQuery } from '@pitboss/storage/created-within'
import type { Db } from 'mongodb'
import type { RoundsContext } from '../../context.ts'
import type { OpenWing, Wing } from '../../wing.ts'
import {
  type Grain,
  type ReportDimension,
  type ReportRow,
  reportRows,
  reportSegments,
} from './rules/report.ts'
import {
  createReportsStore,
  reportIndexes,
  type ReportsStore,
  type Restatement,
} from './storage/reports-store.ts'

/** Sums of money that moved, by hour, day and month. Source: docs/contract.md, section 11, "Business". */
export const reports: Wing = {
  indexes: reportIndexes,
  open: (core, { db }) => serveReports(reportsContext(core, db)),
}

type ReportsContext = Pick<RoundsContext, 'clock' | 'sums'> & {
  readonly reports: ReportsStore
  /** One report of an account at a time: each holds the players of its window. */
  readonly readings: Mailbox
}

export function reportsContext(core: RoundsContext, db: Db): ReportsContext {
  return { ...core, reports: createReportsStore({ db }), readings: createMailbox() }
}

export function serveReports(context: ReportsContext): OpenWing {
  return {
    calls: handlers([getReport.call, dashboardGetReport.call], async ({ caller, query }) =>
      answer({ data: await readReport(context, caller, query) }),
    ),
    fold: { fold: context.reports.fold },
  }
}

const dimensions: readonly ReportDimension[] = ['day', 'game', 'currency', 'brand']
const beginning = new Date('2020-01-01T00:00:00.000Z')
const aheadMs = 40 * 24 * 60 * 60 * 1000

type ReportQuery = WindowQuery & { group_by?: string | undefined }

function readReport(context: ReportsContext, { scope }: Caller, query: ReportQuery) {
  return context.readings(scope.operatorId, async () => {
    const by = new Set(dimensions.filter((one) => (query.group_by ?? 'day').split(',').includes(one)))
    const window = readWindow(query)
    // No round ended before or ends after these: an end that is open or far away becomes one of whole months.
    const from = window.from === undefined || window.from < beginning ? beginning : window.from
    const ahead = new Date(context.clock.now().getTime() + aheadMs)
    const latest = new Date(Date.UTC(ahead.getUTCFullYear(), ahead.getUTCMonth(), 1))
    // Both ends are inclusive.
    const to = window.to === undefined || window.to >= latest ? latest : new Date(window.to.getTime() + 1)
    const grains: Grain[] = by.has('day') ? ['day', 'hour'] : ['month', 'day', 'hour']
    // The player of a round that has just ended may have seen it end.
    await context.sums.catchUp()
    const segments = reportSegments(from, to, grains)
    const found = await Promise.all(segments.map((segment) => context.reports.read(scope, segment, by)))
    const [parts, players] = [found.flatMap((one) => one.parts), found.flatMap((one) => one.players)]
    const restated = by.has('day') ? await context.reports.restated(scope, from, to) : []
    return reportRows(parts, players, by).map((row) => presentRow(row, by, restated))
  })
}

/** `ggr` is stakes less refunds and payouts, and the adjustments. */
function presentRow(row: ReportRow, by: ReadonlySet<ReportDimension>, restated: readonly Restatement[]) {
  const { day, game, brandId, currency, stakes, payouts, refunds, adjustments } = row
  const amountOf = (minor: bigint) => formatAmount(minor, currency)
  return {
    ...(day === null ? {} : { day }),
    ...(game === null ? {} : { game }),
    ...(by.has('brand') ? { brand: brandId } : {}),
    currency,
    rounds: row.rounds,
    players: row.players.size + row.playersCounted,
    ...{ stakes: amountOf(stakes), payouts: amountOf(payouts), refunds: amountOf(refunds) },
    adjustments: amountOf(adjustments),
    ggr: amountOf(stakes - refunds - payouts + adjustments),
    ...(day === null ? {} : { restated_at: lastRestated(row, by, restated)?.toISOString() ?? null }),
  }
}

/** The last change, on a later day, of a round that counts in a row by day. */
function lastRestated(row: ReportRow, by: ReadonlySet<ReportDimension>, restated: readonly Restatement[]) {
  const isOwn = (one: Restatement) =>
    one.day === row.day &&
    one.currency === row.currency &&
    (!by.has('game') || one.game === row.game) &&
    (!by.has('brand') || one.brandId === row.brandId)
  const times = restated.filter(isOwn).map(({ at }) => at.getTime())
  return times.length === 0 ? null : new Date(Math.max(...times))
}
