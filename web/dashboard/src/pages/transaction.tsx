import { dossierSchema } from '@pitboss/contracts/objects/dossier'
import { type Movement, movementAttemptSchema, movementSchema } from '@pitboss/contracts/objects/movement'
import { pageOf } from '@pitboss/contracts/primitives'
import { Link, useParams } from 'wouter'
import { useRead } from '../hooks/use-read.ts'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { Sentences } from '../parts/sentences.tsx'
import { useDashboard } from '../session/dashboard-context.ts'

const attemptsPage = pageOf(movementAttemptSchema)

/** One movement with every call to the wallet. */
export default function Transaction() {
  const { transaction_id: id = '' } = useParams()
  const { environment } = useDashboard()
  const path = `dashboard/transactions/${encodeURIComponent(id)}`
  const read = useRead(movementSchema, path, { environment })
  const attempts = useRead(attemptsPage, `${path}/attempts`, { environment, limit: '200' })
  return (
    <Page
      title={
        read.data === undefined
          ? 'Transaction'
          : `${read.data.type} ${read.data.amount} ${read.data.currency}`
      }
    >
      <Panel read={read}>
        {(movement) => (
          <>
            <HowItStands of={movement} />
            <section className="card" aria-label="Transaction">
              <Facts
                facts={{
                  Status: <Badge status={movement.status} />,
                  Player: (
                    <Link href={`/player?player_id=${encodeURIComponent(movement.player_id)}`}>
                      {movement.player_id}
                    </Link>
                  ),
                  'Balance after': movement.balance_after,
                  'Wallet said': movement.wallet_code,
                  Round: <Link href={`/rounds/${movement.round_id}`}>{movement.round_id}</Link>,
                  Session: <Link href={`/sessions/${movement.session_id}`}>{movement.session_id}</Link>,
                  'Transaction id': (
                    <>
                      <code>{movement.transaction_id}</code>{' '}
                      <CopyButton text={movement.transaction_id} what="id" />
                    </>
                  ),
                  Reference: <code>{movement.reference}</code>,
                  'Id at the wallet': movement.wallet_transaction_id,
                  Reverses:
                    movement.reference_transaction_id === null ? undefined : (
                      <Link href={`/transactions/${encodeURIComponent(movement.reference_transaction_id)}`}>
                        {movement.reference_transaction_id}
                      </Link>
                    ),
                  Created: <Moment at={movement.created_at} />,
                  Changed: <Moment at={movement.updated_at} />,
                }}
              />
            </section>
          </>
        )}
      </Panel>
      <h2>Calls to the wallet</h2>
      <Panel read={attempts}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="about">None: the wallet was not asked.</p>
          ) : (
            <DataTable
              label="Calls to the wallet"
              rows={data}
              keyOf={({ attempt, operation }) => `${operation} ${attempt}`}
              columns={[
                {
                  title: 'Call',
                  cell: ({ attempt, operation }) => (
                    <span className="nowrap">
                      {operation} {attempt}
                    </span>
                  ),
                },
                { title: 'Sent', cell: ({ sent_at }) => <Moment at={sent_at} /> },
                { title: 'Judged', cell: ({ classification }) => <Badge status={classification} /> },
                { title: 'HTTP', number: true, cell: ({ http_status }) => http_status ?? '–' },
                {
                  title: 'Wallet said',
                  cell: ({ wallet_code, error }) =>
                    wallet_code === null ? (error ?? '–') : <span className="nowrap">{wallet_code}</span>,
                },
                {
                  title: 'Took',
                  number: true,
                  cell: ({ latency_ms }) => (latency_ms === null ? '–' : `${latency_ms} ms`),
                },
                { title: 'Next call', cell: ({ next_attempt_at }) => <Moment at={next_attempt_at} /> },
                {
                  title: 'Answer',
                  cell: ({ response_excerpt }) =>
                    response_excerpt ? (
                      <code>{response_excerpt.slice(0, 500)}</code>
                    ) : (
                      <span className="quiet">–</span>
                    ),
                },
              ]}
            />
          )
        }
      </Panel>
    </Page>
  )
}

/** What became of the movement, and what is next; from the dossier of its round. */
function HowItStands({ of: { round_id, transaction_id } }: { of: Movement }) {
  const { environment } = useDashboard()
  const path = `dashboard/rounds/${round_id}/dossier`
  const read = useRead(dossierSchema, path, { environment }, { everyMs: 10_000 })
  const found = read.data?.movements.find(({ movement }) => movement.transaction_id === transaction_id)
  if (found === undefined) return null
  return (
    <section className="card" aria-label="How it stands">
      <Sentences of={found.waiting_for} />
    </section>
  )
}
