import { eventType } from '@pitboss/contracts/objects/event'
import { deliverySchema, deliveryStatus } from '@pitboss/contracts/objects/webhook'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { deliveryList } from './delivery-list.tsx'

const filters: readonly Filter[] = [
  { name: 'status', label: 'Status', options: deliveryStatus.options },
  { name: 'event_type', label: 'Event', options: [...eventType.options, 'webhook.test'] },
  { name: 'event_id', label: 'Event id' },
  { name: 'webhook_id', label: 'Endpoint id' },
]

const follow = { kind: 'deliveries', record: deliverySchema } as const

export default function Deliveries() {
  return (
    <ListPage
      title="Deliveries"
      about="What was sent to your endpoints. RETRYING failed and goes out again by itself; HELD waits for a paused endpoint."
      {...deliveryList}
      filters={filters}
      follow={follow}
      anyTime="Any time"
    />
  )
}
