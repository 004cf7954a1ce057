import { answer, handlers } from '@pitboss/bus/serve-calls'
import { dashboardGetReport, getReport } from '@pitboss/contracts/endpoints/rounds'
import { createMailbox } from '@pitboss/runtime/mailbox'
import type { Db } from 'mongodb'
import type { RoundsContext } from '../../context.ts'
import type { OpenWing, Wing } from '../../wing.ts'
import { readReport, type ReportsContext } from './actions/read-report.ts'
import { createReportsStore, reportIndexes } from './storage/reports-store.ts'

/** Sums of money that moved, by hour, day and month. Source: docs/contract.md, section 11, "Business". */
export const reports: Wing = {
  indexes: reportIndexes,
  open: (core, { db }) => serveReports(reportsContext(core, db)),
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
