import { movementSchema, movementStatus, movementType } from '@pitboss/contracts/objects/movement'
import { pageOf } from '@pitboss/contracts/primitives'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { type Filter, ListView } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'

const movementsPage = pageOf(movementSchema)
const filters: readonly Filter[] = [
  { name: 'player_id', label: 'Player' },
  { name: 'type', label: 'Type', options: movementType.options },
  { name: 'status', label: 'Status', options: movementStatus.options },
  { name: 'round_id', label: 'Round id' },
]

/** Movements of money, newest first; those of one round have no filters of their own. */
export function TransactionList({ roundId }: { roundId?: string }) {
  return (
    <ListView
      label="Movements"
      path="dashboard/transactions"
      schema={movementsPage}
      {...(roundId === undefined ? { filters, anyTime: 'Any time' } : { query: { round_id: roundId } })}
      keyOf={({ transaction_id }) => transaction_id}
      hrefOf={({ transaction_id }) => `/transactions/${encodeURIComponent(transaction_id)}`}
      columns={[
        { title: 'Type', cell: ({ type, free_bet }) => (free_bet ? `${type} (free)` : type) },
        { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
        { title: 'Amount', number: true, cell: ({ amount, currency }) => `${amount} ${currency}` },
        { title: 'Player', cell: ({ player_id }) => player_id },
        {
          title: 'Balance after',
          number: true,
          cell: ({ balance_after, currency }) =>
            balance_after === null ? '–' : `${balance_after} ${currency}`,
        },
        { title: 'Wallet said', cell: ({ wallet_code }) => wallet_code ?? <span className="quiet">–</span> },
        { title: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
      ]}
      empty={
        roundId === undefined ? (
          <Empty title="No movement yet">
            <p>
              A stake, a win, a refund and a rollback are a movement each. The first bet makes the first one.
            </p>
          </Empty>
        ) : (
          <p className="about">None: a free bet that loses moves no money.</p>
        )
      }
    />
  )
}
