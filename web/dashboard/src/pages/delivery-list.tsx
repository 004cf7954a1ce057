import { type Delivery, deliverySchema } from '@pitboss/contracts/objects/webhook'
import { pageOf } from '@pitboss/contracts/primitives'
import { Badge } from '../parts/badge.tsx'
import { Due } from '../parts/due.tsx'
import { Empty } from '../parts/empty.tsx'
import type { ListOf } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'

/** PENDING after a failed attempt is RETRYING to a person. */
export function statusOf({ status, attempt_count }: Pick<Delivery, 'status' | 'attempt_count'>): string {
  return status === 'PENDING' && attempt_count > 0 ? 'RETRYING' : status
}

/** The last result in short: the receiver's status, or why there was none. */
function resultOf({ last_attempt }: Delivery): string {
  if (last_attempt === null) return '–'
  return last_attempt.http_status === null
    ? (last_attempt.error ?? 'no answer')
    : String(last_attempt.http_status)
}

/** Deliveries, newest first. */
export const deliveryList: ListOf<Delivery> = {
  path: 'dashboard/webhook-deliveries',
  schema: pageOf(deliverySchema),
  everyMs: 10_000,
  keyOf: ({ delivery_id }) => delivery_id,
  hrefOf: ({ delivery_id }) => `/deliveries/${delivery_id}`,
  columns: [
    { title: 'Event', cell: ({ event_type }) => event_type },
    { title: 'Status', cell: (delivery) => <Badge status={statusOf(delivery)} /> },
    { title: 'Last result', cell: resultOf },
    { title: 'Attempts', number: true, cell: ({ attempt_count }) => attempt_count },
    { title: 'Next attempt', cell: ({ next_attempt_at }) => <Due at={next_attempt_at} /> },
    { title: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
  ],
  empty: (
    <Empty title="No delivery yet">
      <p>
        Each event makes one delivery for each endpoint that wants it. Play a round in TEST, or press "Send
        test" on an endpoint.
      </p>
    </Empty>
  ),
}
