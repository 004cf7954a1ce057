import { sessionSchema } from '@pitboss/contracts/objects/session'
import { Link, useParams } from 'wouter'
import { useRead } from '../hooks/use-read.ts'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { ListView } from '../parts/list-view.tsx'
import { roundList } from './round-list.tsx'

/** One session with its rounds. */
export default function Session() {
  const { session_id: id = '' } = useParams()
  const { environment } = useDashboard()
  const read = useRead(sessionSchema, `dashboard/sessions/${encodeURIComponent(id)}`, { environment })
  return (
    <Page title="Session">
      <Panel read={read}>
        {(session) => (
          <section className="card" aria-label="Session">
            <Facts
              facts={{
                Status: <Badge status={session.status} />,
                Player: (
                  <Link href={`/sessions?player_id=${encodeURIComponent(session.player_id)}`}>
                    {session.player_id}
                  </Link>
                ),
                Game: session.game,
                Currency: session.currency,
                Opened: <Moment at={session.created_at} />,
                Ends: <Moment at={session.expires_at} />,
                Closed: session.closed_at === null ? undefined : <Moment at={session.closed_at} />,
                Brand: session.brand,
                Jurisdiction: session.jurisdiction,
                Country: session.country,
                Language: session.language,
                Id: (
                  <>
                    <code>{session.session_id}</code> <CopyButton text={session.session_id} what="id" />
                  </>
                ),
                Metadata: Object.entries(session.metadata)
                  .map(([name, value]) => `${name}: ${value}`)
                  .join(', '),
              }}
            />
          </section>
        )}
      </Panel>
      <h2>Rounds</h2>
      <ListView label="Rounds" {...roundList} query={{ session_id: id }} />
    </Page>
  )
}
