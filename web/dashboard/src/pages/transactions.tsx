import { movementSchema, movementStatus, movementType } from '@pitboss/contracts/objects/movement'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { transactionList } from './transaction-list.tsx'

const filters: readonly Filter[] = [
  { name: 'player_id', label: 'Player' },
  { name: 'type', label: 'Type', options: movementType.options },
  { name: 'status', label: 'Status', options: movementStatus.options },
  { name: 'round_id', label: 'Round id' },
]

const follow = { kind: 'movements', record: movementSchema } as const

export default function Transactions() {
  return (
    <ListPage
      title="Transactions"
      label="Movements"
      about="Movements between a player's balance and us. PENDING: the wallet gave no clear answer, and we go on asking."
      {...transactionList}
      filters={filters}
      follow={follow}
      anyTime="Any time"
    />
  )
}
