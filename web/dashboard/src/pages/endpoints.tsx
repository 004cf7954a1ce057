import { webhookEndpointSchema } from '@pitboss/contracts/objects/webhook'
import { pageOf } from '@pitboss/contracts/primitives'
import { useState } from 'react'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Moment } from '../parts/moment.tsx'
import { NewEndpoint } from './new-endpoint.tsx'
import { ReceiverExample } from './receiver-example.tsx'

const endpointsPage = pageOf(webhookEndpointSchema)

/** The webhook endpoints of the environment. */
export default function Endpoints() {
  const [creating, setCreating] = useState(false)
  return (
    <ListPage
      title="Endpoints"
      needs="GET /v1/dashboard/webhooks"
      about="Addresses of yours to which events are delivered, signed and repeated until they are accepted."
      acts={
        <ActButton look="main-button" onPress={() => setCreating(true)}>
          Create endpoint
        </ActButton>
      }
      path="dashboard/webhooks"
      schema={endpointsPage}
      keyOf={({ webhook_id }) => webhook_id}
      hrefOf={({ webhook_id }) => `/endpoints/${webhook_id}`}
      columns={[
        { title: 'Address', cell: ({ url }) => url },
        {
          title: 'Description',
          cell: ({ description }) => description ?? <span className="quiet">–</span>,
        },
        { title: 'Events', cell: ({ events }) => (events.length === 0 ? 'all' : events.join(', ')) },
        {
          title: 'Status',
          cell: ({ status, pause_reason }) => (
            <>
              <Badge status={status} /> {pause_reason !== null && <small>{pause_reason}</small>}
            </>
          ),
        },
        {
          title: 'Failures in a row',
          number: true,
          cell: ({ failure_streak }) => failure_streak.consecutive_failed_attempts,
        },
        { title: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
      ]}
      empty={
        <Empty title="No endpoint yet">
          <p>
            Without one your server has to ask <code>GET /v1/events</code>. Create an endpoint, verify the
            signature with its secret, then press "Send test".
          </p>
          <ReceiverExample />
        </Empty>
      }
    >
      {creating && <NewEndpoint onClose={() => setCreating(false)} />}
    </ListPage>
  )
}
