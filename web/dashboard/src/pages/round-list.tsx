import { type Round, roundSchema } from '@pitboss/contracts/objects/round'
import { pageOf } from '@pitboss/contracts/primitives'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import type { ListOf } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'
import { OpenSession } from './open-session.tsx'

/** Rounds, newest first. */
export const roundList: ListOf<Round> = {
  path: 'dashboard/rounds',
  schema: pageOf(roundSchema),
  keyOf: ({ round_id }) => round_id,
  hrefOf: ({ round_id }) => `/rounds/${round_id}`,
  columns: [
    { title: 'Player', cell: ({ player_id }) => player_id },
    { title: 'Game', cell: ({ game }) => game },
    { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
    {
      title: 'Stake',
      number: true,
      cell: ({ stake, currency, free_bet }) => `${stake} ${currency}${free_bet ? ' (free)' : ''}`,
    },
    {
      title: 'Payout',
      number: true,
      cell: ({ payout, currency }) => (payout === null ? '–' : `${payout} ${currency}`),
    },
    { title: 'Began', cell: ({ created_at }) => <Moment at={created_at} /> },
  ],
  empty: (
    <Empty title="No round yet">
      <p>Open a session, send the player to its launch address, and the first bet is the first round.</p>
      <OpenSession />
    </Empty>
  ),
}
