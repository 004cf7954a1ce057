import { type Approval, approvalSchema, isPermitted } from '@pitboss/contracts/objects/approval'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams } from 'wouter'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { ClosedPage } from '../parts/closed-page.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { wordsOf } from './words-of.ts'
import { approvalStatusTexts, approvalText } from './approval-texts.ts'

type Decision = 'approve' | 'reject'

/** One grave act: what it is about, what it becomes, and the decision about it. */
export default function ApprovalPage() {
  const { approval_id: id = '' } = useParams()
  const { user } = useDashboard()
  const closed = whyNot(user.role, 'GET /v1/dashboard/approvals')
  const path = `dashboard/approvals/${encodeURIComponent(id)}`
  const read = useRead(approvalSchema, path, {}, { enabled: closed === null, everyMs: 5000 })
  if (closed !== null) return <ClosedPage title="Approval" why={closed} />
  return (
    <Page title="Approval">
      <Panel read={read}>
        {(approval) => (
          <>
            <p className="about">{approvalStatusTexts[approval.status]}</p>
            {approval.status === 'PENDING' && <Decide on={approval} path={path} />}
            <section className="card" aria-label="Approval">
              <ApprovalFacts of={approval} />
            </section>
            <h2>What changes</h2>
            <Changes of={approval} />
          </>
        )}
      </Panel>
    </Page>
  )
}

function ApprovalFacts({ of: approval }: { of: Approval }) {
  const { decided_by: decider, ended_at: ended } = approval
  return (
    <Facts
      facts={{
        What: approvalText(approval),
        Status: <Badge status={approval.status} />,
        'Asked by': approval.asked_by.name,
        Asked: <Moment at={approval.asked_at} />,
        Until: approval.status === 'PENDING' ? <Moment at={approval.expires_at} /> : undefined,
        'Decided by': decider === null ? undefined : decider.email,
        Decided: approval.decided_at === null ? undefined : <Moment at={approval.decided_at} />,
        Ended: ended === null ? undefined : <Moment at={ended} />,
        Why: approval.outcome ?? undefined,
        Id: (
          <>
            <code>{approval.approval_id}</code> <CopyButton text={approval.approval_id} what="id" />
          </>
        ),
      }}
    />
  )
}

/** Each field of the object as who asked saw it, and as it becomes; those that differ come first. */
function Changes({ of: { before, after } }: { of: Approval }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const rows = names.map((name) => ({
    name,
    was: wordsOf(before?.[name]),
    is: after === null ? ['gone'] : wordsOf(after[name]),
  }))
  const isSame = ({ was, is }: (typeof rows)[number]) => was.join('\n') === is.join('\n')
  const differ = rows.filter((row) => !isSame(row))
  const same = rows.filter(isSame)
  return (
    <DataTable
      label="What changes"
      rows={[...differ, ...same]}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Field', cell: ({ name }) => <code>{name}</code> },
        { title: 'Now', cell: ({ was }) => <Words of={was} /> },
        {
          title: 'Becomes',
          cell: (row) =>
            isSame(row) ? (
              'the same'
            ) : (
              <strong>
                <Words of={row.is} />
              </strong>
            ),
        },
      ]}
    />
  )
}

function Words({ of: lines }: { of: readonly string[] }) {
  const [first = ''] = lines
  if (lines.length <= 1) return first
  return (
    <ul>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  )
}

function Decide({ on: approval, path }: { on: Approval; path: string }) {
  const { api, user } = useDashboard()
  const queries = useQueryClient()
  const [deciding, setDeciding] = useState<Decision | null>(null)
  const close = () => setDeciding(null)
  const act = useAct(async (decision: Decision) => {
    await api.send(approvalSchema, 'POST', `${path}/${decision}`)
    await queries.invalidateQueries()
    close()
  })
  const isLater = isPermitted(approval)
  const isOwn = approval.asked_by.id === user.user_id
  const mayDecide = whyNot(user.role, 'POST /v1/dashboard/approvals/{approval_id}/approve')
  const own = isOwn ? 'You have asked for it; somebody else has to approve it.' : null
  return (
    <>
      <div className="acts">
        <ActButton look="main-button" refused={own ?? mayDecide} onPress={() => setDeciding('approve')}>
          Approve
        </ActButton>
        <ActButton refused={isOwn ? null : mayDecide} onPress={() => setDeciding('reject')}>
          {isOwn ? 'Take it back' : 'Reject'}
        </ActButton>
      </div>
      {deciding === 'approve' && (
        <Confirm
          title={approvalText(approval)}
          act={isLater ? 'Approve' : 'Approve and do it'}
          grave
          {...act}
          onConfirm={() => act.run('approve')}
          onClose={close}
        >
          <p>
            {isLater ? 'Who asked then does it, within 24 hours.' : 'It is done at once.'}{' '}
            {approval.asked_by.name} has asked for it; ask back if you did not expect it.
          </p>
        </Confirm>
      )}
      {deciding === 'reject' && (
        <Confirm
          title={isOwn ? 'Take it back' : 'Reject it'}
          act={isOwn ? 'Take it back' : 'Reject'}
          {...act}
          onConfirm={() => act.run('reject')}
          onClose={close}
        >
          <p>Nothing is done, and it can be asked for again.</p>
        </Confirm>
      )}
    </>
  )
}
