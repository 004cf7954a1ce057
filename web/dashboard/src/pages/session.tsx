import { type Session as SessionRecord, sessionSchema } from '@pitboss/contracts/objects/session'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { ListView } from '../parts/list-view.tsx'
import { roundList } from './round-list.tsx'

const noRound = (
  <Empty title="No round yet">
    <p>The player has not bet in this session yet. A first bet is its first round.</p>
  </Empty>
)

/** One session with its rounds. */
export default function Session() {
  const { session_id: id = '' } = useParams()
  const { environment } = useDashboard()
  const path = `dashboard/sessions/${encodeURIComponent(id)}`
  const read = useRead(sessionSchema, path, { environment })
  return (
    <Page title="Session">
      <Panel read={read}>
        {(session) => (
          <>
            <CloseSession of={session} path={path} />
            <section className="card" aria-label="Session">
              <Facts
                facts={{
                  Status: <Badge status={session.status} />,
                  Player: (
                    <Link href={`/player?player_id=${encodeURIComponent(session.player_id)}`}>
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
          </>
        )}
      </Panel>
      <h2>Rounds</h2>
      <ListView label="Rounds" {...roundList} query={{ session_id: id }} empty={noRound} />
    </Page>
  )
}

const closeRoute = 'POST /v1/dashboard/sessions/{session_id}/close'

function CloseSession({ of: session, path }: { of: SessionRecord; path: string }) {
  const { api, user, environment } = useDashboard()
  const queries = useQueryClient()
  const [asking, setAsking] = useState(false)
  const close = useAct(async () => {
    await api.send(sessionSchema, 'POST', `${path}/close?environment=${environment}`)
    await queries.invalidateQueries()
    setAsking(false)
  })
  const closed = session.status === 'CLOSED' ? 'The session is closed already.' : null
  return (
    <div className="acts">
      <ActButton refused={whyNot(user.role, closeRoute) ?? closed} onPress={() => setAsking(true)}>
        Close session
      </ActButton>
      {asking && (
        <Confirm
          title="Close this session?"
          act="Close session"
          grave
          {...close}
          onConfirm={() => close.run()}
          onClose={() => setAsking(false)}
        >
          <p>
            {session.player_id} can place no further bet in it. A round that is open can still be finished; a
            minute later it is ended as abandoned. A closed session stays closed.
          </p>
        </Confirm>
      )}
    </div>
  )
}
