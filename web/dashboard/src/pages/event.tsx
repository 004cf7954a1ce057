import { eventEnvelopeSchema } from '@pitboss/contracts/objects/event'
import { Link, useParams } from 'wouter'
import { useRead } from '../hooks/use-read.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { EventType } from './event-type.tsx'

/** One event as receivers get it. */
export default function Event() {
  const { event_id: id = '' } = useParams()
  const { environment } = useDashboard()
  const read = useRead(eventEnvelopeSchema, `dashboard/events/${encodeURIComponent(id)}`, { environment })
  return (
    <Page title={read.data?.type ?? 'Event'}>
      <Panel read={read}>
        {(event) => {
          const { round_id, session_id } = event.data
          const text = JSON.stringify(event, null, 2)
          return (
            <>
              <section className="card" aria-label="Event">
                <Facts
                  facts={{
                    Id: <code>{event.id}</code>,
                    When: <Moment at={event.created_at} />,
                    Round:
                      typeof round_id === 'string' ? (
                        <Link href={`/rounds/${round_id}`}>{round_id}</Link>
                      ) : undefined,
                    Session:
                      typeof session_id === 'string' ? (
                        <Link href={`/sessions/${session_id}`}>{session_id}</Link>
                      ) : undefined,
                    Deliveries: <Link href={`/deliveries?event_id=${event.id}`}>of this event</Link>,
                  }}
                />
              </section>
              <div className="beside">
                <section className="card" aria-label="Body">
                  <h2>Body</h2>
                  <pre className="data" tabIndex={0} aria-label="Body of the event">
                    {text}
                  </pre>
                  <CopyButton text={text} what="body" />
                </section>
                <EventType type={event.type} />
              </div>
            </>
          )
        }}
      </Panel>
    </Page>
  )
}
