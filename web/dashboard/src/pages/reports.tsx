import { reportSchema } from '@pitboss/contracts/objects/report'
import { formatAmount, readBalance } from '@pitboss/money/amount'
import { useRef } from 'react'
import * as z from 'zod'
import { BarChart } from '../charts/bar-chart.tsx'
import { utcDays } from '../charts/utc-days.ts'
import { rangeNames, useFilters, windowFields } from '../hooks/use-filters.ts'
import { useRead } from '../hooks/use-read.ts'
import type { Column } from '../parts/data-table.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Field } from '../parts/field.tsx'
import { ListTools } from '../parts/list-tools.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { RangeField, windowOf } from '../parts/range-field.tsx'
import { SavedViews } from '../parts/saved-views.tsx'
import { useDashboard } from '../session/dashboard-context.ts'

type Row = z.output<typeof reportSchema>['data'][number]
type Measure = 'ggr' | 'stakes' | 'payouts' | 'refunds' | 'adjustments'

const groups = {
  day: 'day',
  'day,game': 'day and game',
  game: 'game',
  brand: 'brand',
  'game,brand': 'game and brand',
  currency: 'currency alone',
} as const
const groupName = z.enum(['day', 'day,game', 'game', 'brand', 'game,brand', 'currency'])
const measures = {
  ggr: 'GGR',
  stakes: 'Stakes',
  payouts: 'Payouts',
  refunds: 'Refunds',
  adjustments: 'Adjustments',
} as const
const measureName = z.enum(['ggr', 'stakes', 'payouts', 'refunds', 'adjustments'])
const dayMs = 24 * 60 * 60 * 1000
/** More would draw more than somebody can read; the table has all. */
const chartsMax = 4
const rowsMax = 200
const daysMax = 92

/** What moved and what stayed: sums by day, game, brand and currency, drawn and as a table. */
export default function Reports() {
  const { environment } = useDashboard()
  const { filters, set } = useFilters({
    ...{ range: z.enum(rangeNames), from: windowFields.from, to: windowFields.to },
    ...{ group_by: groupName, measure: measureName },
  })
  const { range, from, to, group_by = 'day' } = filters
  const measure = measureName.catch('ggr').parse(filters.measure)
  const window = {
    ...(range && { range }),
    ...(from && { from }),
    ...(to && { to }),
  }
  const ask = () => ({ environment, group_by, ...wholeDays(window) })
  const read = useRead(reportSchema, 'dashboard/reports/summary', ask, {}, [environment, group_by, window])
  const around = useRef<HTMLElement>(null)
  return (
    <Page
      title="Reports"
      about="Sums of the rounds that are over, by the UTC day on which they ended. Later changes are adjustments of their own day. GGR is stakes less refunds and payouts, plus adjustments."
    >
      <SavedViews />
      <section aria-label="Report" ref={around}>
        <div className="filters" role="search" aria-label="Filters of the report">
          <Field label="By">
            <select value={group_by} onChange={(event) => set({ group_by: event.target.value })}>
              {groupName.options.map((name) => (
                <option key={name} value={name}>
                  {groups[name]}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Drawn">
            <select value={measure} onChange={(event) => set({ measure: event.target.value })}>
              {measureName.options.map((name) => (
                <option key={name} value={name}>
                  {measures[name]}
                </option>
              ))}
            </select>
          </Field>
          <RangeField window={window} anyTime="Last 30 days" set={set} />
        </div>
        <Panel read={read}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title="No round ended in this time">
                <p>Each round is counted with its end. Widen the time, or play a round in {environment}.</p>
              </Empty>
            ) : (
              <>
                <Charts of={data} measure={measure} days={daysOf(group_by, ask())} />
                <DataTable
                  label="Report"
                  rows={data.slice(0, rowsMax)}
                  keyOf={nameOf}
                  columns={columnsOf(data)}
                />
                {data.length > rowsMax && (
                  <p className="about">
                    The first {rowsMax} of {data.length} rows. A narrower time shows the others.
                  </p>
                )}
                <div className="list-foot">
                  <ListTools label="Report" path="dashboard/reports/summary" query={ask()} around={around} />
                </div>
              </>
            )
          }
        </Panel>
      </section>
    </Page>
  )
}

/** The window in whole UTC days, which are added up already; the last 30 days without one. */
function wholeDays({ range, from, to }: { range?: string; from?: string; to?: string }) {
  if (from !== undefined || to !== undefined) return windowOf({ ...(from && { from }), ...(to && { to }) })
  const { from: began = new Date(Date.now()).toISOString() } = windowOf({ range: range ?? '30d' })
  if (range === '1h') return { from: began }
  return { from: new Date(Math.floor(Date.parse(began) / dayMs) * dayMs).toISOString() }
}

/** The days of a report by day, as far as they can be drawn. */
function daysOf(groupBy: string, { from, to }: { from?: string; to?: string }): string[] {
  if (!groupBy.startsWith('day') || from === undefined) return []
  return utcDays(from, to ?? new Date(Date.now()).toISOString(), daysMax)
}

function nameOf({ day, game, brand, currency }: Row): string {
  return [day, game, brand === null ? 'no brand' : brand, currency].filter(Boolean).join(' ')
}

function columnsOf(rows: readonly Row[]): Column<Row>[] {
  const has = (name: 'day' | 'game' | 'brand') => rows.some((row) => row[name] !== undefined)
  const texts: Column<Row>[] = [
    ...(has('day') ? [{ title: 'Day', cell: ({ day }: Row) => day }] : []),
    ...(has('game') ? [{ title: 'Game', cell: ({ game }: Row) => game }] : []),
    ...(has('brand') ? [{ title: 'Brand', cell: ({ brand }: Row) => brand ?? 'none' }] : []),
    { title: 'Currency', cell: ({ currency }) => currency },
  ]
  const sums = ['stakes', 'payouts', 'refunds', 'adjustments', 'ggr'] as const
  const isRestated = rows.some((row) => typeof row.restated_at === 'string')
  return [
    ...texts,
    { title: 'Rounds', number: true, cell: ({ rounds }) => rounds },
    { title: 'Players', number: true, cell: ({ players }) => players },
    ...sums.map((name) => ({ title: measures[name], number: true, cell: (row: Row) => row[name] })),
    ...(isRestated
      ? [
          {
            title: 'Restated',
            cell: ({ restated_at: at }: Row) => (typeof at === 'string' ? <Moment at={at} /> : '–'),
          },
        ]
      : []),
  ]
}

/** A drawing for each currency: sums of different ones have no common scale. */
type ChartsProps = {
  readonly of: readonly Row[]
  readonly measure: Measure
  readonly days: readonly string[]
}

function Charts({ of: rows, measure, days }: ChartsProps) {
  const byCurrency = [...Map.groupBy(rows, ({ currency }) => currency)].slice(0, chartsMax)
  return byCurrency.map(([currency, of]) => {
    // A day without a round is a day, too.
    const sums = new Map<string, bigint>(days.map((day) => [day, 0n]))
    for (const row of of) {
      const name = row.day ?? row.game ?? row.brand ?? 'all'
      sums.set(name, (sums.get(name) ?? 0n) + (readBalance(row[measure], currency) ?? 0n))
    }
    const bars = [...sums].map(([name, value]) => ({ name, value, text: amountText(value, currency) }))
    return <BarChart key={currency} label={`${measures[measure]} in ${currency}`} of={bars} />
  })
}

function amountText(minor: bigint, currency: string): string {
  return `${formatAmount(minor, currency)} ${currency}`
}
