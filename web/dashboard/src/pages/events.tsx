import { type EventEnvelope, eventEnvelopeSchema, eventType } from '@pitboss/contracts/objects/event'
import { pageOf } from '@pitboss/contracts/primitives'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'

const eventsPage = pageOf(eventEnvelopeSchema)
const filters: readonly Filter[] = [{ name: 'type', label: 'Type', options: eventType.options }]
const follow = { kind: 'events', record: eventEnvelopeSchema } as const
const keyOf = ({ id }: EventEnvelope) => id
const textOf = (event: EventEnvelope, name: string) => {
  const value = event.data[name]
  return typeof value === 'string' ? value : '–'
}

/** The event log in the order of recording. */
export default function Events() {
  return (
    <ListPage
      title="Events"
      about="Everything that happened, oldest first, whether or not an endpoint exists."
      path="dashboard/events"
      schema={eventsPage}
      filters={filters}
      anyTime="Default: 7 days"
      endless
      follow={follow}
      keyOf={keyOf}
      hrefOf={({ id }) => `/events/${id}`}
      columns={[
        { title: 'Type', cell: ({ type }) => type },
        { title: 'When', cell: ({ created_at }) => <Moment at={created_at} /> },
        { title: 'Player', cell: (event) => textOf(event, 'player_id') },
        { title: 'Round', cell: (event) => <code>{textOf(event, 'round_id')}</code> },
        { title: 'Id', cell: ({ id }) => <code>{id}</code> },
      ]}
      empty={
        <Empty title="No event in the last 7 days">
          <p>An event is recorded when a session is opened, a round is played or money moves.</p>
        </Empty>
      }
    />
  )
}
