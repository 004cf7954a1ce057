import { replayJobSchema } from '@pitboss/contracts/objects/webhook'
import { pageOf } from '@pitboss/contracts/primitives'
import { useRead } from '../hooks/use-read.ts'
import { Badge } from '../parts/badge.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Moment } from '../parts/moment.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'

const replaysPage = pageOf(replayJobSchema)

/** The newest replays of an endpoint. */
export function ReplayList({ webhookId }: { webhookId: string }) {
  const { environment } = useDashboard()
  const read = useRead(replaysPage, `dashboard/webhooks/${webhookId}/replays`, { environment, limit: '10' })
  return (
    <Panel read={read}>
      {({ data }) =>
        data.length === 0 ? (
          <p className="about">
            None yet. A replay sends the events of a period again, such as the ones that a receiver lost.
          </p>
        ) : (
          <DataTable
            label="Replays"
            rows={data}
            keyOf={({ replay_id }) => replay_id ?? ''}
            hrefOf={({ replay_id }) => `/endpoints/${webhookId}/replays/${replay_id}`}
            columns={[
              { title: 'Begun', cell: ({ created_at }) => <Moment at={created_at} /> },
              { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
              { title: 'Sends', cell: ({ only }) => only },
              { title: 'Matched', number: true, cell: ({ matched }) => matched },
              { title: 'Delivered', number: true, cell: ({ delivered }) => delivered },
              { title: 'Failed', number: true, cell: ({ failed }) => failed },
            ]}
          />
        )
      }
    </Panel>
  )
}
