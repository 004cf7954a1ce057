import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { Link } from 'wouter'
import { Badge } from '../parts/badge.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Sentences } from '../parts/sentences.tsx'
import { statusOf } from './delivery-list.tsx'

/** The movements of a round, each with what became of it. */
export function RoundMovements({ of: movements }: { of: Dossier['movements'] }) {
  if (movements.length === 0) return <p className="about">None: no money was to move.</p>
  return (
    <DataTable
      label="Movements"
      rows={movements}
      keyOf={({ movement }) => movement.transaction_id}
      hrefOf={({ movement }) => `/transactions/${encodeURIComponent(movement.transaction_id)}`}
      columns={[
        { title: 'Type', cell: ({ movement }) => movement.type },
        { title: 'Status', cell: ({ movement }) => <Badge status={movement.status} /> },
        {
          title: 'Amount',
          number: true,
          cell: ({ movement }) => `${movement.amount} ${movement.currency}`,
        },
        {
          title: 'Balance after',
          number: true,
          cell: ({ movement }) =>
            movement.balance_after === null ? '–' : `${movement.balance_after} ${movement.currency}`,
        },
        { title: 'Calls', number: true, cell: ({ attempts }) => attempts.length },
        { title: 'Id', cell: ({ movement }) => <code>{movement.transaction_id}</code> },
        { title: 'How it stands', cell: ({ waiting_for }) => <Sentences of={waiting_for} /> },
      ]}
    />
  )
}

type Sent = Dossier['events'][number]['deliveries'][number] & { readonly type: string }

/** The events of a round with what was sent of them to which endpoint. */
export function RoundDeliveries({ of: events }: { of: Dossier['events'] }) {
  const sent: Sent[] = events.flatMap(({ event, deliveries }) =>
    deliveries.map((delivery) => ({ ...delivery, type: event.type })),
  )
  const unsent = events.filter(({ deliveries }) => deliveries.length === 0)
  return (
    <>
      {sent.length > 0 && (
        <DataTable
          label="Deliveries"
          rows={sent}
          keyOf={({ delivery_id }) => delivery_id}
          hrefOf={({ delivery_id }) => `/deliveries/${delivery_id}`}
          columns={[
            { title: 'Event', cell: ({ type }) => type },
            { title: 'Status', cell: (delivery) => <Badge status={statusOf(delivery)} /> },
            { title: 'Attempts', number: true, cell: ({ attempt_count }) => attempt_count },
            { title: 'How it stands', cell: ({ waiting_for }) => <Sentences of={waiting_for} /> },
          ]}
        />
      )}
      {unsent.length > 0 && (
        <p className="about">
          Without a receiver:{' '}
          {unsent.map(({ event }, at) => (
            <span key={event.id}>
              {at > 0 && ', '}
              <Link href={`/events/${event.id}`}>{event.type}</Link>
            </span>
          ))}
          .
        </p>
      )}
      {events.length === 0 && <p className="about">None has been recorded yet.</p>}
    </>
  )
}
