import { type Player, playerSchema } from '@pitboss/contracts/objects/player'
import { Link } from 'wouter'
import * as z from 'zod'
import { useFilters } from '../hooks/use-filters.ts'
import { useRead } from '../hooks/use-read.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Facts } from '../parts/facts.tsx'
import { ListView } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { PlayerForm } from './player-form.tsx'
import { PlayerLimits } from './player-limits.tsx'
import { PlayerStops } from './player-stops.tsx'
import { roundList } from './round-list.tsx'

const fields = { player_id: z.string().max(128) }
const kept = ['player_id'] as const

/** One player: games, money of 30 days, what is open, and the rounds. */
export default function PlayerPage() {
  const { filters, set } = useFilters(fields)
  const { player_id: playerId = '' } = filters
  return (
    <Page title="Player">
      <PlayerForm playerId={playerId} onChoose={set} />
      {playerId === '' ? (
        <Empty title="Choose a player">
          <p>Type the id that your server gives to the player; or press Ctrl K and type any id.</p>
        </Empty>
      ) : (
        <OnePlayer key={playerId} playerId={playerId} />
      )}
    </Page>
  )
}

function OnePlayer({ playerId }: { playerId: string }) {
  const { environment } = useDashboard()
  const read = useRead(playerSchema, `dashboard/players/${encodeURIComponent(playerId)}`, { environment })
  return (
    <>
      <Panel read={read}>
        {(player) => (
          <>
            <PlayerFacts of={player} />
            <PlayerStops playerId={playerId} />
            <PlayerLimits playerId={playerId} />
            <h2>Games</h2>
            <PlayedGames of={player} />
            <h2>Money of the last 30 days</h2>
            <Sums of={player} />
            <h2>Rounds</h2>
            <ListView label="Rounds" {...roundList} query={{ player_id: playerId }} keeps={kept} />
          </>
        )}
      </Panel>
      {/* Somebody can be stopped, or have a limit, before the first session. */}
      {read.isError && (
        <>
          <PlayerStops playerId={playerId} />
          <PlayerLimits playerId={playerId} />
        </>
      )}
    </>
  )
}

function PlayerFacts({ of: player }: { of: Player }) {
  const named = `?player_id=${encodeURIComponent(player.player_id)}`
  return (
    <section className="card" aria-label="Player">
      <Facts
        facts={{
          Id: (
            <>
              <code>{player.player_id}</code> <CopyButton text={player.player_id} what="id" />
            </>
          ),
          'Active sessions': player.active_sessions,
          'Last session': <Moment at={player.last_session_at} />,
          'Free bets left': player.free_bets,
          More: (
            <>
              <Link href={`/sessions${named}`}>Sessions</Link> ·{' '}
              <Link href={`/transactions${named}`}>Transactions</Link> ·{' '}
              <Link href={`/free-bets${named}`}>Free bets</Link>
            </>
          ),
        }}
      />
    </section>
  )
}

function PlayedGames({ of: { player_id, games } }: { of: Player }) {
  if (games.length === 0) return <p className="about">No bet yet.</p>
  const bookOf = (game: string) => `/fairness?${new URLSearchParams({ player_id, game })}`
  return (
    <DataTable
      label="Games"
      rows={games}
      keyOf={({ game }) => game}
      columns={[
        { title: 'Game', cell: ({ game }) => game },
        { title: 'Nonces used', number: true, cell: ({ last_nonce }) => last_nonce },
        { title: 'Last round', cell: ({ last_round_at }) => <Moment at={last_round_at} /> },
        {
          title: 'Open',
          cell: ({ unfinished_round: id }) =>
            id === null ? '–' : <Link href={`/rounds/${id}`}>A round is not over</Link>,
        },
        { title: 'Fairness', cell: ({ game }) => <Link href={bookOf(game)}>Book of nonces</Link> },
      ]}
    />
  )
}

function Sums({ of: { play, complete, from } }: { of: Player }) {
  if (play.length === 0) return <p className="about">No round that began in this time is over.</p>
  return (
    <>
      <DataTable
        label="Sums"
        rows={play}
        keyOf={({ currency }) => currency}
        columns={[
          { title: 'Currency', cell: ({ currency }) => currency },
          { title: 'Rounds', number: true, cell: ({ rounds }) => rounds },
          { title: 'Stakes', number: true, cell: ({ stakes }) => stakes },
          { title: 'Payouts', number: true, cell: ({ payouts }) => payouts },
          { title: 'Refunds', number: true, cell: ({ refunds }) => refunds },
          { title: 'GGR', number: true, cell: ({ ggr }) => ggr },
        ]}
      />
      <p className="quiet">
        Rounds that began since <Moment at={from} /> and are over.
        {!complete && ' There are more than 1,000; these are the newest.'}
      </p>
    </>
  )
}
