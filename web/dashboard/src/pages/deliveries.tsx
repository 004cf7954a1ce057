import { Page } from '../parts/page.tsx'
import { DeliveryList } from './delivery-list.tsx'

export default function Deliveries() {
  return (
    <Page
      title="Deliveries"
      about="What was sent to your endpoints. RETRYING failed and goes out again by itself; HELD waits for a paused endpoint."
    >
      <DeliveryList />
    </Page>
  )
}
