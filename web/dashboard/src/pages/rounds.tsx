import { roundStatus } from '@pitboss/contracts/objects/round'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { roundList } from './round-list.tsx'

const filters: readonly Filter[] = [
  { name: 'player_id', label: 'Player' },
  { name: 'game', label: 'Game', options: ['dice', 'mines', 'spin-bottle'] },
  { name: 'status', label: 'Status', options: roundStatus.options },
]

export default function Rounds() {
  return (
    <ListPage
      title="Rounds"
      about="Each bet with its draw, its payout and its proof."
      {...roundList}
      filters={filters}
      anyTime="Any time"
    />
  )
}
