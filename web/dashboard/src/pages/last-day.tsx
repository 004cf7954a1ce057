import { reportSchema } from './report-shape.ts'
import { useRead } from '../hooks/use-read.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'

const dayMs = 24 * 3600 * 1000

/** Rounds and money of the last 24 hours, by currency. */
export function LastDay() {
  const { environment } = useDashboard()
  const read = useRead(
    reportSchema,
    'dashboard/reports/summary',
    () => ({ environment, group_by: 'currency', from: new Date(Date.now() - dayMs).toISOString() }),
    {},
    ['last-day', environment],
  )
  return (
    <section aria-label="Last 24 hours">
      <h2>Last 24 hours</h2>
      <Panel read={read}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="about">No round was played in {environment} in the last 24 hours.</p>
          ) : (
            <DataTable
              label="Last 24 hours"
              rows={data}
              keyOf={({ currency }) => currency}
              columns={[
                { title: 'Currency', cell: ({ currency }) => currency },
                { title: 'Rounds', number: true, cell: ({ rounds }) => rounds },
                { title: 'Players', number: true, cell: ({ players }) => players },
                { title: 'Stakes', number: true, cell: ({ stakes }) => stakes },
                { title: 'Payouts', number: true, cell: ({ payouts }) => payouts },
                { title: 'Refunds', number: true, cell: ({ refunds }) => refunds },
                { title: 'GGR', number: true, cell: ({ ggr }) => ggr },
              ]}
            />
          )
        }
      </Panel>
    </section>
  )
}
