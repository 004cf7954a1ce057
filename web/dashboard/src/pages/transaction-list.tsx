import { type Movement, movementSchema } from '@pitboss/contracts/objects/movement'
import { pageOf } from '@pitboss/contracts/primitives'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import type { ListOf } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'

/** Movements of money, newest first. */
export const transactionList: ListOf<Movement> = {
  path: 'dashboard/transactions',
  schema: pageOf(movementSchema),
  keyOf: ({ transaction_id }) => transaction_id,
  hrefOf: ({ transaction_id }) => `/transactions/${encodeURIComponent(transaction_id)}`,
  columns: [
    { title: 'Type', cell: ({ type, free_bet }) => (free_bet ? `${type} (free)` : type) },
    { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
    { title: 'Amount', number: true, cell: ({ amount, currency }) => `${amount} ${currency}` },
    { title: 'Player', cell: ({ player_id }) => player_id },
    {
      title: 'Balance after',
      number: true,
      cell: ({ balance_after, currency }) => (balance_after === null ? '–' : `${balance_after} ${currency}`),
    },
    { title: 'Wallet said', cell: ({ wallet_code }) => wallet_code ?? <span className="quiet">–</span> },
    { title: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
  ],
  empty: (
    <Empty title="No movement yet">
      <p>A stake, a win, a refund and a rollback are a movement each. The first bet makes the first one.</p>
    </Empty>
  ),
}
