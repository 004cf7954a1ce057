import { type FreeBet, freeBetSchema, freeBetStatus } from '@pitboss/contracts/objects/game'
import { pageOf } from '@pitboss/contracts/primitives'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAct } from '../hooks/use-act.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { NewFreeBet } from './new-free-bet.tsx'

const grantsPage = pageOf(freeBetSchema)
const filters: readonly Filter[] = [
  { name: 'player_id', label: 'Player' },
  { name: 'game', label: 'Game' },
  { name: 'status', label: 'Status', options: freeBetStatus.options },
]

/** Grants of free bets, newest first. */
export default function FreeBets() {
  const { user } = useDashboard()
  const [granting, setGranting] = useState(false)
  const [cancelling, setCancelling] = useState<FreeBet | null>(null)
  const refused = whyNot(user.role, 'POST /v1/dashboard/free-bets/{grant_id}/cancel')
  return (
    <ListPage
      title="Free bets"
      about="A free bet is played without a stake; its win is paid like any other."
      acts={
        <ActButton
          look="main-button"
          refused={whyNot(user.role, 'POST /v1/dashboard/free-bets')}
          onPress={() => setGranting(true)}
        >
          Grant free bets
        </ActButton>
      }
      path="dashboard/free-bets"
      schema={grantsPage}
      filters={filters}
      anyTime="Any time"
      keyOf={({ grant_id }) => grant_id}
      columns={[
        {
          title: 'Player',
          cell: ({ player_id: id }) => <Link href={`/player?player_id=${encodeURIComponent(id)}`}>{id}</Link>,
        },
        { title: 'Game', cell: ({ game }) => game },
        { title: 'Stake', number: true, cell: ({ stake, currency }) => `${stake} ${currency}` },
        { title: 'Left', number: true, cell: leftText },
        { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
        { title: 'Granted', cell: ({ created_at }) => <Moment at={created_at} /> },
        {
          title: 'Ends',
          cell: ({ expires_at }) => (expires_at === null ? 'never' : <Moment at={expires_at} />),
        },
        { title: 'Id', cell: ({ grant_id }) => <code>{grant_id}</code> },
        {
          title: 'Act',
          cell: (grant) =>
            grant.status !== 'ACTIVE' ? (
              <span className="quiet">–</span>
            ) : (
              <button
                type="button"
                className="button quiet-button small"
                disabled={refused !== null}
                title={refused ?? undefined}
                onClick={() => setCancelling(grant)}
              >
                Cancel<span className="unseen"> the free bets of {grant.player_id}</span>
              </button>
            ),
        },
      ]}
      empty={
        <Empty title="No free bet yet">
          <p>
            Grant some here, or let your server do it with <code>POST /v1/free-bets</code>. The player sees
            them in the game.
          </p>
        </Empty>
      }
    >
      {granting && <NewFreeBet onClose={() => setGranting(false)} />}
      {cancelling !== null && <CancelFreeBet of={cancelling} onClose={() => setCancelling(null)} />}
    </ListPage>
  )
}

/** What a player can still play: nothing of a grant that has ended. */
function leftText({ status, remaining, count }: FreeBet): string {
  return `${status === 'ACTIVE' ? remaining : 0} of ${count}`
}

function CancelFreeBet({ of: grant, onClose }: { of: FreeBet; onClose: () => void }) {
  const { api, environment } = useDashboard()
  const queries = useQueryClient()
  const cancel = useAct(async () => {
    const path = `dashboard/free-bets/${grant.grant_id}/cancel?environment=${environment}`
    await api.send(freeBetSchema, 'POST', path)
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Confirm
      title="Cancel these free bets?"
      act="Cancel them"
      grave
      {...cancel}
      onConfirm={() => cancel.run()}
      onClose={onClose}
    >
      <p>
        {grant.player_id} loses the {grant.remaining} of {grant.stake} {grant.currency} that are left. A round
        that has begun with one is played to its end. This can't be undone; grant new ones instead.
      </p>
    </Confirm>
  )
}
