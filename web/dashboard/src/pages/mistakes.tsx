import { mistakesSchema } from '@pitboss/contracts/objects/account'
import { Link } from 'wouter'
import { useRead } from '../hooks/use-read.ts'
import { Badge } from '../parts/badge.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Moment } from '../parts/moment.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'

const shownMax = 10

/** What went wrong most in the last 7 days, and what helps; nothing when nothing did. */
export function Mistakes() {
  const { environment } = useDashboard()
  const read = useRead(mistakesSchema, 'dashboard/request-logs/mistakes', { environment })
  if (read.data?.data.length === 0) return null
  return (
    <section aria-label="Mistakes">
      <h2>What goes wrong</h2>
      <Panel read={read}>
        {({ data, complete }) => (
          <>
            <DataTable
              label="Mistakes"
              rows={data.slice(0, shownMax)}
              keyOf={({ method, path, code, field }) => `${method} ${path} ${code} ${field}`}
              columns={[
                { title: 'Times', number: true, cell: ({ count }) => count },
                {
                  title: 'Request',
                  cell: ({ method, path }) => (
                    <code>
                      {method} {path}
                    </code>
                  ),
                },
                {
                  title: 'Code',
                  cell: ({ code, status }) => <Badge status={code ?? String(status)} exact />,
                },
                {
                  title: 'Wrong',
                  cell: ({ field, told }) => (field === null ? told : `${field} ${told}`),
                },
                { title: 'What helps', cell: ({ remedy }) => remedy },
                {
                  title: 'Last',
                  cell: ({ last_at: at, last_request_id: id }) => (
                    <Link href={`/requests?request_id=${encodeURIComponent(id)}`}>
                      <Moment at={at} />
                    </Link>
                  ),
                },
              ]}
            />
            <p className="quiet">
              Of the last 7 days{complete ? '' : ', by the newest 5,000 refusals'}, the most frequent first.
            </p>
          </>
        )}
      </Panel>
      <h2>Requests</h2>
    </section>
  )
}
