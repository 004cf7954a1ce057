import { type ReturnStream, returnStreamSchema } from '@pitboss/contracts/objects/returns'
import { pageOf } from '@pitboss/contracts/primitives'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'
import { ReturnPicture } from '../picture/return-picture.tsx'

const returnsPage = pageOf(returnStreamSchema)
const filters: readonly Filter[] = [
  { name: 'game', label: 'Game' },
  { name: 'currency', label: 'Currency' },
]

/** How the account's bets have come out so far, each with its picture. */
export default function Returns() {
  return (
    <ListPage
      title="Returns"
      about="Each bet and each game's draws, watched since the first round. Seen lies inside what is not ruled out, and that band narrows with play; when the designed return leaves it, that is an alarm. Fair games raise one, ever, with a probability of at most 1 in 100."
      path="dashboard/returns"
      schema={returnsPage}
      filters={filters}
      keyOf={({ stream_id }) => stream_id}
      columns={[
        { title: 'Bet', cell: ({ game, game_version: version, shape }) => `${game} ${version}, ${shape}` },
        { title: 'Currency', cell: ({ currency }) => currency },
        { title: 'Trials', number: true, cell: ({ trials }) => trials.toLocaleString('en') },
        { title: 'Designed', number: true, cell: ({ expected }) => percent(expected) },
        { title: 'Seen', number: true, cell: ({ seen }) => percent(seen) },
        { title: 'Not ruled out', cell: bandText },
        {
          title: 'Stands',
          cell: (stream) => (
            <div className="return-picture">
              <ReturnPicture of={stream} />
              <p>{standing(stream)}</p>
            </div>
          ),
        },
      ]}
      empty={
        <Empty title="Nothing under watch yet">
          <p>A bet appears here seconds after its first round in this environment.</p>
        </Empty>
      }
    />
  )
}

function percent(share: string | null): string {
  return share === null ? '–' : `${(Number(share) * 100).toFixed(2)}\u00a0%`
}

function bandText({ low, high }: ReturnStream): string {
  return low === null ? '–' : `${percent(low)} to ${percent(high)}`
}

function standing({ alarm, evidence, point_noticed_within: within }: ReturnStream) {
  if (alarm !== null)
    return (
      <>
        <strong>Alarm</strong> after {alarm.trials.toLocaleString('en')} trials, <Moment at={alarm.at} />
      </>
    )
  const part = Math.max(0, Math.round(Number(evidence) * 100))
  const notice =
    within === null ? '' : `; would notice a 1-point error within ${within.toLocaleString('en')} trials`
  return `well: ${part} % of an alarm${notice}`
}
