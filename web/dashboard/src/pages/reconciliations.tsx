import { reconciliationSummarySchema } from '@pitboss/contracts/objects/reconciliation'
import { pageOf } from '@pitboss/contracts/primitives'
import { useState } from 'react'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Moment } from '../parts/moment.tsx'
import { NewReconciliation } from './new-reconciliation.tsx'

const reconciliationsPage = pageOf(reconciliationSummarySchema)

/** Comparisons of the operator's ledgers with ours, newest first. */
export default function Reconciliations() {
  const [ordering, setOrdering] = useState(false)
  return (
    <ListPage
      title="Reconciliation"
      about="Your wallet's ledger against our movements: what one has and the other lacks, or has with other values."
      acts={
        <ActButton look="main-button" onPress={() => setOrdering(true)}>
          Compare a ledger
        </ActButton>
      }
      path="dashboard/reports/reconciliation"
      schema={reconciliationsPage}
      keyOf={({ reconciliation_id }) => reconciliation_id}
      hrefOf={({ reconciliation_id }) => `/reconciliation/${reconciliation_id}`}
      columns={[
        { title: 'Begun', cell: ({ created_at }) => <Moment at={created_at} /> },
        {
          title: 'Status',
          cell: ({ status, reason }) => (
            <Badge status={status === 'DONE' && reason !== null ? 'FAILED' : status} />
          ),
        },
        { title: 'From', cell: ({ from }) => <Moment at={from} /> },
        { title: 'To', cell: ({ to }) => <Moment at={to} /> },
        { title: 'Lines', number: true, cell: ({ lines_total }) => lines_total },
        { title: 'Match', number: true, cell: ({ matched }) => matched },
        { title: 'Differences', number: true, cell: ({ differences_total }) => differences_total },
      ]}
      empty={
        <Empty title="No ledger was compared yet">
          <p>
            Export the ledger of your wallet for a day, as CSV with the columns <code>transaction_id</code>,{' '}
            <code>type</code>, <code>amount</code>, <code>currency</code>, and compare it here.
          </p>
        </Empty>
      }
    >
      {ordering && <NewReconciliation onClose={() => setOrdering(false)} />}
    </ListPage>
  )
}
