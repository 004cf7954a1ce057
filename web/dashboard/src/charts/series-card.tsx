import { lazy, type ReactNode, Suspense, useMemo } from 'react'
import * as z from 'zod'
import { useFilters, rangeNames } from '../hooks/use-filters.ts'
import { useRead } from '../hooks/use-read.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Moment } from '../parts/moment.tsx'
import { Panel } from '../parts/panel.tsx'
import { windowOf } from '../parts/range-field.tsx'
import type { ChartLine, ChartProps } from './chart.tsx'

const Chart = lazy(() => import('./chart.tsx'))

type Point = { readonly at: string }
type Series = {
  readonly from: string
  readonly to: string
  readonly step_s: number
  readonly complete_until: string
  readonly points: readonly Point[]
}

/** A drawing of a series: what each line is, by point. */
export type Drawing<Of> = Pick<ChartProps, 'kind' | 'unit'> & {
  readonly title: string
  readonly lines: readonly (Omit<ChartLine, 'values'> & { readonly of: (point: Of) => number | null })[]
}

type SeriesCardProps<Of extends Series> = {
  readonly title: string
  /** Below `/v1/`. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly schema: z.ZodType<Of>
  readonly drawingsOf: (series: Of) => readonly Drawing<Of['points'][number]>[]
  /** A sentence on the whole window. */
  readonly sentenceOf: (series: Of) => ReactNode
  readonly columnsOf: (series: Of) => readonly Column<Of['points'][number]>[]
  /** What would make figures appear. */
  readonly empty: string
}

const fields = { span: z.enum(rangeNames) }
const spanTexts = { '1h': 'Hour', '24h': 'Day', '7d': 'Week', '30d': 'Month' } as const
const tableRowsMax = 60
const refreshMs = 60_000

/** A series as drawings, and as a table for who does not see them. Its span is in the address. */
export function SeriesCard<Of extends Series>(props: SeriesCardProps<Of>) {
  const { filters, set } = useFilters(fields)
  const span = filters.span ?? '24h'
  const ask = () => ({ ...props.query, ...windowOf({ range: span }) })
  const read = useRead(props.schema, props.path, ask, { everyMs: refreshMs }, [props.query, span])
  return (
    <section className="card series" aria-label={props.title}>
      <div className="series-head">
        <h2>{props.title}</h2>
        <fieldset className="segments">
          <legend className="unseen">Time shown</legend>
          {rangeNames.map((name) => (
            <label key={name}>
              <input
                type="radio"
                name={`span of ${props.title}`}
                checked={span === name}
                onChange={() => set({ span: name === '24h' ? null : name })}
              />
              <span>{spanTexts[name]}</span>
            </label>
          ))}
        </fieldset>
      </div>
      <Panel read={read}>{(series) => <Drawn {...props} series={series} />}</Panel>
    </section>
  )
}

function Drawn<Of extends Series>({ series, ...props }: SeriesCardProps<Of> & { readonly series: Of }) {
  const { drawingsOf } = props
  const drawn = useMemo(() => fill(series, drawingsOf(series)), [series, drawingsOf])
  if (series.points.length === 0)
    return (
      <Empty title="Nothing in this time">
        <p>{props.empty}</p>
      </Empty>
    )
  const rows: readonly Of['points'][number][] = series.points.slice(-tableRowsMax).toReversed()
  return (
    <>
      <p className="quiet">
        {props.sentenceOf(series)} Complete up to <Moment at={series.complete_until} />.
      </p>
      <div className="charts">
        {drawn.map(({ title, ...chart }) => (
          <figure key={title}>
            <figcaption>{title}</figcaption>
            <Suspense fallback={<div className="chart" aria-busy />}>
              <Chart {...chart} />
            </Suspense>
          </figure>
        ))}
      </div>
      <details>
        <summary>
          The same as a table{series.points.length > tableRowsMax && `, the last ${tableRowsMax} points`}
        </summary>
        <DataTable
          label={`${props.title}, as a table`}
          rows={rows}
          keyOf={({ at }) => at}
          columns={[{ title: 'From', cell: ({ at }) => <Moment at={at} /> }, ...props.columnsOf(series)]}
        />
      </details>
    </>
  )
}

/** The drawings over every step of the window: a step without a point has nothing to count. */
function fill<Of extends Series>(series: Of, drawings: readonly Drawing<Of['points'][number]>[]) {
  const stepS = series.step_s
  const [first, end] = [Date.parse(series.from) / 1000, Date.parse(series.to) / 1000]
  const times = Array.from({ length: Math.round((end - first) / stepS) }, (_, at) => first + at * stepS)
  const byTime = new Map<number, Of['points'][number]>(
    series.points.map((point) => [Date.parse(point.at) / 1000, point]),
  )
  return drawings.map(({ title, kind, unit, lines }) => ({
    title,
    kind,
    unit,
    times,
    lines: lines.map(({ label, color, of }) => ({
      label,
      color,
      values: times.map((time) => {
        const point = byTime.get(time)
        if (point === undefined) return kind === 'bars' ? 0 : null
        return of(point)
      }),
    })),
  }))
}
