import type { Nonce } from '@pitboss/contracts/objects/player'
import { Link } from 'wouter'
import * as z from 'zod'
import { RecomputeCard } from '../fairness/recompute-card.tsx'
import { bookPage, bookPath } from '../fairness/recompute.ts'
import { useFilters } from '../hooks/use-filters.ts'
import { Badge } from '../parts/badge.tsx'
import type { Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { type Filter, ListView } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { PlayerForm } from './player-form.tsx'

const text = z.string().max(128)
const fields = { player_id: text, game: text, from_nonce: text, to_nonce: text }
const rangeFilters: readonly Filter[] = [
  { name: 'from_nonce', label: 'From nonce' },
  { name: 'to_nonce', label: 'To nonce' },
]
const kept = ['player_id', 'game'] as const

const columns: readonly Column<Nonce>[] = [
  { title: 'Nonce', number: true, cell: ({ nonce }) => nonce },
  { title: 'State', cell: ({ state }) => <Badge status={state} /> },
  {
    title: 'Round',
    cell: ({ round }) =>
      round === null ? (
        '–'
      ) : (
        <Link className="nowrap" href={`/rounds/${round.round_id}`}>
          {round.status}
        </Link>
      ),
  },
  {
    title: 'Commitment',
    cell: ({ commitment }) =>
      commitment === null ? 'none on record' : <code>{commitment.server_seed_hash}</code>,
  },
  {
    title: 'Committed',
    cell: ({ commitment }) => <Moment at={commitment?.committed_at ?? null} />,
  },
  { title: 'Bet', cell: ({ round }) => <Moment at={round?.created_at ?? null} /> },
  { title: 'Seed', cell: ({ round }) => <span className="nowrap">{seedText(round)}</span> },
]

function seedText(round: Nonce['round']): string {
  if (round === null) return '–'
  return round.fairness.server_seed === null ? 'secret until the end' : 'revealed'
}

/** The book of nonces of one player's game, and its rounds computed again in the page. */
export default function Fairness() {
  const { environment } = useDashboard()
  const { filters, set } = useFilters(fields)
  const { player_id: playerId = '', game = '', from_nonce, to_nonce } = filters
  const path = bookPath(playerId, game)
  return (
    <Page
      title="Fairness"
      about="Each bet of a player in a game has the next number, its nonce, and a seed that was committed to before. The book has no hole, or says where one is."
    >
      <PlayerForm
        playerId={playerId}
        game={game}
        onChoose={(chosen) => set({ ...chosen, from_nonce: null, to_nonce: null })}
      />
      {playerId === '' || game === '' ? (
        <Empty title="Choose a player and a game">
          <p>Then the book of nonces is here, and any range of it can be computed again in your browser.</p>
        </Empty>
      ) : (
        <>
          <p>
            <Link href={`/player?player_id=${encodeURIComponent(playerId)}`}>All about {playerId}</Link>
          </p>
          <RecomputeCard
            key={JSON.stringify([path, environment, from_nonce, to_nonce])}
            path={path}
            query={{ environment, from_nonce, to_nonce }}
            range={rangeText(from_nonce, to_nonce)}
          />
          <h2>Book of nonces</h2>
          <ListView
            label="Nonces"
            path={path}
            schema={bookPage}
            filters={rangeFilters}
            keeps={kept}
            columns={columns}
            keyOf={({ nonce }) => String(nonce)}
            empty={
              <Empty title="No nonce yet">
                <p>The first one is used up by the first bet of this player in this game.</p>
              </Empty>
            }
          />
        </>
      )}
    </Page>
  )
}

function rangeText(from: string | undefined, to: string | undefined): string {
  if (from === undefined && to === undefined) return 'the whole book'
  return `nonces ${from ?? '1'} to ${to ?? 'the last one'}`
}
