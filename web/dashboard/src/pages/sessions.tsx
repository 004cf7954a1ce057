import { sessionSchema, sessionStatus } from '@pitboss/contracts/objects/session'
import { pageOf } from '@pitboss/contracts/primitives'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'
import { OpenSession } from './open-session.tsx'

const sessionsPage = pageOf(sessionSchema)
const filters: readonly Filter[] = [
  { name: 'player_id', label: 'Player' },
  { name: 'status', label: 'Status', options: sessionStatus.options },
]

/** Sessions, newest first. */
export default function Sessions() {
  return (
    <ListPage
      title="Sessions"
      about="A session is one player at one game, in one currency, for a while."
      path="dashboard/sessions"
      schema={sessionsPage}
      filters={filters}
      anyTime="Any time"
      keyOf={({ session_id }) => session_id}
      hrefOf={({ session_id }) => `/sessions/${session_id}`}
      columns={[
        { title: 'Player', cell: ({ player_id }) => player_id },
        { title: 'Game', cell: ({ game }) => game },
        { title: 'Currency', cell: ({ currency }) => currency },
        { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
        { title: 'Opened', cell: ({ created_at }) => <Moment at={created_at} /> },
        { title: 'Ends', cell: ({ expires_at }) => <Moment at={expires_at} /> },
      ]}
      empty={
        <Empty title="No session yet">
          <p>
            Your server opens one with <code>POST /v1/sessions</code> and sends the player to its launch
            address.
          </p>
          <OpenSession />
        </Empty>
      }
    />
  )
}
