import { deliveryDetailSchema, deliverySchema } from '@pitboss/contracts/objects/webhook'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import type * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { statusOf } from './delivery-list.tsx'
import { Ladder } from './ladder.tsx'

type Detail = z.output<typeof deliveryDetailSchema>
const lookAgainMs = 2000

/** One delivery with its attempts. */
export default function Delivery() {
  const { delivery_id: id = '' } = useParams()
  const { environment } = useDashboard()
  const [pending, setPending] = useState(false)
  const path = `dashboard/webhook-deliveries/${encodeURIComponent(id)}`
  const read = useRead(
    deliveryDetailSchema,
    path,
    { environment },
    { everyMs: pending ? lookAgainMs : false },
  )
  if (read.data !== undefined && (read.data.status === 'PENDING') !== pending)
    setPending(read.data.status === 'PENDING')
  return (
    <Page title={read.data?.event_type ?? 'Delivery'}>
      <Panel read={read}>{(delivery) => <OneDelivery of={delivery} path={path} />}</Panel>
    </Page>
  )
}

function OneDelivery({ of: delivery, path }: { of: Detail; path: string }) {
  const { api, user } = useDashboard()
  const queries = useQueryClient()
  const [queued, setQueued] = useState<number | null>(null)
  const retry = useAct(async () => {
    const { attempt_count } = await api.send(deliverySchema, 'POST', `${path}/retry`)
    setQueued(attempt_count + 1)
    await queries.invalidateQueries()
  })
  const { delivery_id, event_id, event_type, webhook_id, waiting_for, attempts } = delivery
  const held = delivery.status === 'HELD' ? 'The endpoint is paused; resume it first.' : null
  return (
    <>
      <div className="acts">
        <ActButton
          look="main-button"
          busy={retry.busy}
          refused={whyNot(user.role, 'POST /v1/dashboard/webhook-deliveries/{delivery_id}/retry') ?? held}
          onPress={() => void retry.run()}
        >
          Retry now
        </ActButton>
      </div>
      <ErrorNotice error={retry.error} />
      {queued !== null && (
        <p role="status" className="notice" data-tone="plain">
          {attempts.some(({ attempt }) => attempt >= queued)
            ? `Attempt ${queued} has ended; see below.`
            : `Queued as attempt ${queued}. Its result appears below.`}
        </p>
      )}
      <section className="card" aria-label="Delivery">
        <Facts
          facts={{
            Status: <Badge status={statusOf(delivery)} />,
            'Waits for': waiting_for ?? undefined,
            'Next attempt': <Moment at={delivery.next_attempt_at} />,
            Delivered: <Moment at={delivery.delivered_at} />,
            Created: <Moment at={delivery.created_at} />,
            Id: (
              <>
                <code>{delivery_id}</code> <CopyButton text={delivery_id} what="id" />
              </>
            ),
            Event:
              event_type === 'webhook.test' ? (
                <code>{event_id}</code>
              ) : (
                <Link href={`/events/${event_id}`}>{event_id}</Link>
              ),
            Endpoint: <Link href={`/endpoints/${webhook_id}`}>{webhook_id}</Link>,
          }}
        />
      </section>
      {delivery.ladder !== undefined && delivery.ladder.length > 0 && <Ladder of={delivery.ladder} />}
      <h2>Attempts</h2>
      {attempts.length === 0 ? <p className="about">None yet.</p> : <Attempts of={attempts} />}
    </>
  )
}

const msText = (ms: number | null) => (ms === null ? '–' : `${Math.round(ms)} ms`)

function Attempts({ of: attempts }: { of: Detail['attempts'] }) {
  return (
    <DataTable
      label="Attempts"
      rows={attempts.toReversed()}
      keyOf={({ attempt }) => String(attempt)}
      columns={[
        { title: 'Attempt', cell: ({ attempt }) => attempt },
        { title: 'Sent', cell: ({ sent_at }) => <Moment at={sent_at} /> },
        {
          title: 'Result',
          cell: ({ http_status, error, hint }) => (
            <div>
              {http_status ?? error ?? 'on its way'}
              {http_status !== null && error !== null && error !== `HTTP ${http_status}` && (
                <small>{error}</small>
              )}
              {hint !== null && <small>{hint}</small>}
            </div>
          ),
        },
        { title: 'Name', number: true, cell: ({ timings }) => msText(timings?.dns_ms ?? null) },
        { title: 'Connection', number: true, cell: ({ timings }) => msText(timings?.connect_ms ?? null) },
        { title: 'TLS', number: true, cell: ({ timings }) => msText(timings?.tls_ms ?? null) },
        { title: 'First byte', number: true, cell: ({ timings }) => msText(timings?.first_byte_ms ?? null) },
        {
          title: 'Total',
          number: true,
          cell: ({ timings, duration_ms }) => msText(timings?.total_ms ?? duration_ms),
        },
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
