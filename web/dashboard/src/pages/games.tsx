import { type Game, gameSchema } from '@pitboss/contracts/objects/game'
import { pageOf } from '@pitboss/contracts/primitives'
import { useState } from 'react'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { ChangeGame } from './change-game.tsx'

const gamesPage = pageOf(gameSchema)

/** The games of the platform with the account's switches and limits. */
export default function Games() {
  const { user } = useDashboard()
  const [changing, setChanging] = useState<Game | null>(null)
  const refused = whyNot(user.role, 'PATCH /v1/dashboard/games/{slug}')
  return (
    <ListPage
      title="Games"
      about="What players of yours may play, and for how much. It holds for both environments; open rounds are not touched."
      path="dashboard/games"
      schema={gamesPage}
      byEnvironment={false}
      keyOf={({ slug }) => slug}
      columns={[
        { title: 'Game', cell: ({ name }) => name },
        { title: 'Name in the API', cell: ({ slug }) => <code>{slug}</code> },
        { title: 'Yours', cell: ({ enabled }) => <Badge status={enabled ? 'ON' : 'OFF'} /> },
        { title: 'Platform', cell: ({ status }) => <Badge status={status} /> },
        { title: 'Return to the player', number: true, cell: ({ rtp }) => rtp },
        { title: 'Stakes', cell: ({ limits }) => <Limits of={limits} /> },
        {
          title: 'Act',
          cell: (game) => (
            <button
              type="button"
              className="button quiet-button small"
              disabled={refused !== null}
              title={refused ?? undefined}
              onClick={() => setChanging(game)}
            >
              Change<span className="unseen"> {game.name}</span>
            </button>
          ),
        },
      ]}
      empty={
        <Empty title="No game">
          <p>The platform offers none at the moment.</p>
        </Empty>
      }
    >
      {changing !== null && <ChangeGame of={changing} onClose={() => setChanging(null)} />}
    </ListPage>
  )
}

function Limits({ of: limits }: { of: Game['limits'] }) {
  return (
    <ul>
      {limits.map(({ currency, min_stake, max_stake, max_payout, rtp_at_min_stake }) => (
        <li
          key={currency}
          title={`Pays at most ${max_payout} ${currency}; returns ${rtp_at_min_stake ?? 'nothing'} at the least stake, at least`}
        >
          {min_stake} to {max_stake} {currency}
        </li>
      ))}
    </ul>
  )
}
