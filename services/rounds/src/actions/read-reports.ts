import type { Caller } from '@pitboss/contracts/caller'
import { createMailbox } from '@pitboss/runtime/mailbox'
import {
  type Grain,
  type ReportDimension,
  type ReportRow,
  reportRows,
  reportSegments,
} from '../rules/report.ts'
import type { ReportsStore } from '../storage/reports-store.ts'
import type { Restatement } from '../storage/report-adjustments.ts'
import type { Parts } from './parts.ts'
import { readWindow, type WindowQuery } from './read-window.ts'

type ReportQuery = WindowQuery & { group_by?: string | undefined }

export type ReadReport = ReturnType<typeof createReadReport>

const dimensions: readonly ReportDimension[] = ['day', 'game', 'currency', 'brand']
const beginning = new Date('2020-01-01T00:00:00.000Z')
const aheadMs = 40 * 24 * 60 * 60 * 1000
const catchUpPassesMax = 5

/**
 * Creates the report of an account: sums of money that moved, by the UTC day on which a round ended.
 * Source: docs/contract.md, section 11, "Business".
 */
export function createReadReport({ reports, clock }: Pick<Parts, 'clock'> & { reports: ReportsStore }) {
  const mailbox = createMailbox()

  /** Counts rounds that have just ended, a bounded number of batches: their player may have seen them end. */
  async function catchUp(): Promise<void> {
    for (let pass = 0; pass < catchUpPassesMax; pass++) {
      if ((await reports.applyFacts()) === 0) return
    }
  }

  /** One report of an account at a time: each holds the players of its window. */
  return function readReport(caller: Caller, query: ReportQuery) {
    return mailbox(caller.scope.operatorId, () => read(caller, query))
  }

  async function read({ scope }: Caller, query: ReportQuery) {
    const by = new Set(dimensions.filter((one) => (query.group_by ?? 'day').split(',').includes(one)))
    const window = readWindow(query)
    // No round ended before or ends after these: an end that is open or far away becomes one of whole months.
    const from = window.from === undefined || window.from < beginning ? beginning : window.from
    const latest = nextMonth(clock.now())
    // Both ends are inclusive.
    const to = window.to === undefined || window.to >= latest ? latest : new Date(window.to.getTime() + 1)
    const grains: Grain[] = by.has('day') ? ['day', 'hour'] : ['month', 'day', 'hour']
    await catchUp()
    const found = await Promise.all(
      reportSegments(from, to, grains).map((segment) => reports.read(scope, segment, by)),
    )
    const rows = reportRows(
      found.flatMap(({ parts }) => parts),
      found.flatMap(({ players }) => players),
      by,
    )
    const restated = by.has('day') ? await reports.restated(scope, from, to) : []
    return { rows, by, restatedAt: (row: ReportRow) => lastRestated(row, by, restated) }
  }
}

/** The last change, on a later day, of a round that counts in a row by day. */
function lastRestated(
  row: ReportRow,
  by: ReadonlySet<ReportDimension>,
  restated: readonly Restatement[],
): Date | null {
  const isOwn = (one: Restatement) =>
    one.day === row.day &&
    one.currency === row.currency &&
    (!by.has('game') || one.game === row.game) &&
    (!by.has('brand') || one.brandId === row.brandId)
  return restated
    .filter(isOwn)
    .reduce<Date | null>((last, { at }) => (last === null || at > last ? at : last), null)
}

function nextMonth(now: Date): Date {
  const ahead = new Date(now.getTime() + aheadMs)
  return new Date(Date.UTC(ahead.getUTCFullYear(), ahead.getUTCMonth(), 1))
}
