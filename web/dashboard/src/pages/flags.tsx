import { flagRule, flagSchema, flagStatus } from '@pitboss/contracts/objects/flag'
import { pageOf } from '@pitboss/contracts/primitives'
import { useState } from 'react'
import { Link } from 'wouter'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'
import { FlagRulesForm } from './flag-rules-form.tsx'
import { flagTexts } from './flag-texts.ts'

const flagsPage = pageOf(flagSchema)
const filters: readonly Filter[] = [
  { name: 'status', label: 'Status', options: flagStatus.options },
  { name: 'rule', label: 'Rule', options: flagRule.options },
  { name: 'player_id', label: 'Player' },
]

/** Movements that somebody should look at, newest first. */
export default function Flags() {
  const [ruling, setRuling] = useState(false)
  return (
    <ListPage
      title="Flags"
      about="What somebody should look at: big wins, outcomes that stay unknown again and again, money that goes back after a win."
      acts={<ActButton onPress={() => setRuling(true)}>When flags are raised</ActButton>}
      path="dashboard/flags"
      schema={flagsPage}
      filters={filters}
      anyTime="Any time"
      keyOf={({ flag_id }) => flag_id}
      hrefOf={({ flag_id }) => `/flags/${flag_id}`}
      columns={[
        { title: 'What', cell: ({ rule }) => flagTexts[rule] },
        { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
        {
          title: 'Player',
          cell: ({ player_id: id }) =>
            id === null ? '–' : <Link href={`/player?player_id=${encodeURIComponent(id)}`}>{id}</Link>,
        },
        { title: 'Game', cell: ({ game }) => game ?? '–' },
        {
          title: 'Amount',
          number: true,
          cell: ({ amount, currency, movements }) =>
            amount === null ? `${movements} movements` : `${amount} ${currency ?? ''}`,
        },
        { title: 'Notes', number: true, cell: ({ notes }) => String(notes) },
        { title: 'Happened', cell: ({ happened_at }) => <Moment at={happened_at} /> },
        { title: 'Raised', cell: ({ raised_at }) => <Moment at={raised_at} /> },
      ]}
      empty={
        <Empty title="No flag yet">
          <p>
            Say under "When flags are raised" from which amount on a win is a big one; no currency has a
            threshold of its own. The other rules are on from the beginning.
          </p>
        </Empty>
      }
    >
      {ruling && <FlagRulesForm onClose={() => setRuling(false)} />}
    </ListPage>
  )
}
