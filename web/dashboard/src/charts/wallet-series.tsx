import {
  type WalletOperationFigures,
  type WalletPoint,
  walletSeriesSchema,
} from '@pitboss/contracts/objects/series'
import type * as z from 'zod'
import { type Drawing, SeriesCard } from './series-card.tsx'
import { addCounts, quantileOf } from './quantile.ts'

type Series = z.output<typeof walletSeriesSchema>

const most = 0.95

/** Calls to the wallet over time: verdicts, and how long stakes and wins take. */
export function WalletSeries({ path }: { path: string }) {
  return (
    <SeriesCard
      title="Calls"
      path={`${path}/series`}
      query={noQuery}
      schema={walletSeriesSchema}
      drawingsOf={drawingsOf}
      sentenceOf={sentenceOf}
      columnsOf={columnsOf}
      empty="No stake, win or rollback was sent to this wallet. Figures come a minute after a call; checks and questions for a balance are not counted."
    />
  )
}

const noQuery = {}

/** The three operations as one. */
function allOf({ debit, credit, rollback }: WalletPoint): WalletOperationFigures {
  return [credit, rollback].reduce(
    (sum, one) => ({
      success: sum.success + one.success,
      refused: sum.refused + one.refused,
      unknown: sum.unknown + one.unknown,
      durations: addCounts(sum.durations, one.durations),
    }),
    debit,
  )
}

const drawingsOf = ({ duration_bounds_ms: bounds }: Series): Drawing<WalletPoint>[] => [
  {
    title: 'Calls',
    kind: 'bars',
    unit: '',
    lines: [
      {
        label: 'Acknowledged',
        color: '--won',
        of: (point) => allOf(point).success,
      },
      { label: 'Refused', color: '--accent', of: (point) => allOf(point).refused },
      { label: 'Outcome unknown', color: '--problem', of: (point) => allOf(point).unknown },
    ],
  },
  {
    title: 'Time of 95 of 100 calls, at most (ms)',
    kind: 'lines',
    unit: ' ms',
    lines: [
      { label: 'Stakes', color: '--accent', of: ({ debit }) => quantileOf(bounds, debit.durations, most) },
      { label: 'Wins', color: '--won', of: ({ credit }) => quantileOf(bounds, credit.durations, most) },
      {
        label: 'Rollbacks',
        color: '--test',
        of: ({ rollback }) => quantileOf(bounds, rollback.durations, most),
      },
    ],
  },
]

function sentenceOf({ points }: Series) {
  const sums = points.map(allOf)
  const sum = (name: 'success' | 'refused' | 'unknown') => sums.reduce((total, one) => total + one[name], 0)
  return `${sum('success')} calls were acknowledged, ${sum('refused')} refused, ${sum('unknown')} had no clear answer.`
}

const columnsOf = ({ duration_bounds_ms: bounds }: Series) => [
  { title: 'Acknowledged', number: true, cell: (point: WalletPoint) => allOf(point).success },
  { title: 'Refused', number: true, cell: (point: WalletPoint) => allOf(point).refused },
  { title: 'Unknown', number: true, cell: (point: WalletPoint) => allOf(point).unknown },
  {
    title: '95 of 100, ms',
    number: true,
    cell: (point: WalletPoint) => quantileOf(bounds, allOf(point).durations, most) ?? '–',
  },
]
