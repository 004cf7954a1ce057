import { approvalSchema, approvalStatus } from '@pitboss/contracts/objects/approval'
import { pageOf } from '@pitboss/contracts/primitives'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'
import { approvalText } from './approval-texts.ts'

const approvalsPage = pageOf(approvalSchema)
const filters: readonly Filter[] = [{ name: 'status', label: 'Status', options: approvalStatus.options }]

/** Grave acts that wait, or have waited, for a second person. */
export default function Approvals() {
  return (
    <ListPage
      title="Approvals"
      about="Grave acts that wait, or have waited, for a second person. Nothing of them is done before that."
      needs="GET /v1/dashboard/approvals"
      path="dashboard/approvals"
      schema={approvalsPage}
      filters={filters}
      byEnvironment={false}
      keyOf={({ approval_id }) => approval_id}
      hrefOf={({ approval_id }) => `/approvals/${approval_id}`}
      columns={[
        { title: 'What', cell: (approval) => approvalText(approval) },
        { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
        { title: 'Asked by', cell: ({ asked_by }) => asked_by.name },
        { title: 'Asked', cell: ({ asked_at }) => <Moment at={asked_at} /> },
        {
          title: 'Until',
          cell: ({ status, expires_at }) => (status === 'PENDING' ? <Moment at={expires_at} /> : '–'),
        },
        { title: 'Decided by', cell: ({ decided_by }) => decided_by?.email ?? '–' },
      ]}
      empty={
        <Empty title="Nothing has waited for a second person yet">
          <p>
            An OWNER says under Business that grave acts need one. From then on to delete a LIVE key, to
            switch a game off and to change the address of the LIVE wallet waits here.
          </p>
        </Empty>
      }
    />
  )
}
