import { webhookEndpointSchema } from '@pitboss/contracts/objects/webhook'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import type * as z from 'zod'
import { EndpointSeries } from '../charts/endpoint-series.tsx'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { ClosedPage } from '../parts/closed-page.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { ListView } from '../parts/list-view.tsx'
import { CertificationList } from './certification-list.tsx'
import { CertifyEndpoint } from './certify-endpoint.tsx'
import { deliveryList } from './delivery-list.tsx'
import { EndpointAct, type EndpointActName } from './endpoint-act.tsx'
import { ReceiverExample } from './receiver-example.tsx'
import { ReplayList } from './replay-list.tsx'
import { SendTest } from './send-test.tsx'

const pauseTexts = {
  MANUAL: 'Somebody paused it.',
  FAILING: 'It was paused by itself after a day of failures.',
  EXHAUSTED:
    'It was paused by itself: a delivery had used up all its attempts and nothing had been accepted since.',
  GONE: 'It was paused by itself: the receiver answered 410 Gone.',
} as const

/** One endpoint: its settings, its deliveries, its replays. */
export default function Endpoint() {
  const { webhook_id: id = '' } = useParams()
  const { user, environment } = useDashboard()
  const closed = whyNot(user.role, 'GET /v1/dashboard/webhooks')
  const path = `dashboard/webhooks/${encodeURIComponent(id)}`
  const read = useRead(webhookEndpointSchema, path, { environment }, { enabled: closed === null })
  if (closed !== null) return <ClosedPage title="Endpoint" why={closed} />
  return (
    <Page title={read.data?.description || 'Endpoint'}>
      <Panel read={read}>{(endpoint) => <OneEndpoint of={endpoint} />}</Panel>
    </Page>
  )
}

function OneEndpoint({ of: endpoint }: { of: z.output<typeof webhookEndpointSchema> }) {
  const [act, setAct] = useState<EndpointActName | null>(null)
  const { environment } = endpoint
  const { webhook_id, url, status, pause_reason, events, failure_streak, max_in_flight, held, created_at } =
    endpoint
  const paused = status === 'PAUSED'
  return (
    <>
      <div className="acts">
        <SendTest webhookId={webhook_id} />
        <CertifyEndpoint of={endpoint} />
        <ActButton onPress={() => setAct('change')}>Edit</ActButton>
        <ActButton onPress={() => setAct('rotate')}>Rotate secret</ActButton>
        <ActButton onPress={() => setAct(paused ? 'resume' : 'pause')}>
          {paused ? 'Resume' : 'Pause'}
        </ActButton>
        <ActButton
          refused={paused ? 'The endpoint is paused; resume it first.' : null}
          onPress={() => setAct('replay')}
        >
          Replay
        </ActButton>
        <ActButton onPress={() => setAct('delete')}>Delete</ActButton>
      </div>
      {pause_reason !== null && (
        <div className="notice" data-tone="waiting">
          <p>
            <strong>Paused.</strong> {pauseTexts[pause_reason]} Deliveries are held, nothing is lost.
          </p>
        </div>
      )}
      <section className="card" aria-label="Endpoint">
        <Facts
          facts={{
            URL: <code>{url}</code>,
            Status: <Badge status={status} />,
            Id: (
              <>
                <code>{webhook_id}</code> <CopyButton text={webhook_id} what="id" />
              </>
            ),
            Events: events.length === 0 ? 'all' : events.join(', '),
            Held: paused ? held : undefined,
            'Attempts at the same time': max_in_flight,
            'Failed attempts in a row': failure_streak.consecutive_failed_attempts,
            'Failing since': failure_streak.since === null ? undefined : <Moment at={failure_streak.since} />,
            Created: <Moment at={created_at} />,
          }}
        />
      </section>
      <ReceiverExample />
      <EndpointSeries webhookId={webhook_id} environment={environment} />
      {environment === 'TEST' && (
        <CertificationList
          path={`dashboard/webhooks/${webhook_id}/certifications`}
          query={{ environment }}
          page={`/endpoints/${webhook_id}/certifications`}
        />
      )}
      <h2>Replays</h2>
      <ReplayList webhookId={webhook_id} />
      <h2>
        Deliveries <Link href={`/deliveries?webhook_id=${webhook_id}`}>with filters</Link>
      </h2>
      <ListView label="Deliveries" {...deliveryList} query={{ webhook_id, limit: '20' }} keeps={['span']} />
      {act !== null && <EndpointAct name={act} of={endpoint} onClose={() => setAct(null)} />}
    </>
  )
}
