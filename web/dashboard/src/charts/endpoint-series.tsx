import { type EndpointPoint, endpointSeriesSchema } from '@pitboss/contracts/objects/series'
import type * as z from 'zod'
import { type Drawing, SeriesCard } from './series-card.tsx'
import { addCounts, quantileOf } from './quantile.ts'

type Series = z.output<typeof endpointSeriesSchema>

const median = 0.5
const most = 0.95

/** Attempts at an endpoint over time: since when it fails, how, and how long its answers take. */
export function EndpointSeries({ webhookId, environment }: { webhookId: string; environment: string }) {
  return (
    <SeriesCard
      title="Health"
      path={`dashboard/webhooks/${encodeURIComponent(webhookId)}/series`}
      query={{ environment }}
      schema={endpointSeriesSchema}
      drawingsOf={drawingsOf}
      sentenceOf={sentenceOf}
      columnsOf={columnsOf}
      empty="No event was sent to this endpoint. Figures come a minute after an attempt; tests are not counted."
    />
  )
}

const failedOf = ({ refused, unreachable, unknown }: EndpointPoint) => refused + unreachable + unknown

const drawingsOf = ({
  duration_bounds_ms: bounds,
  first_delay_bounds_ms: delays,
}: Series): Drawing<EndpointPoint>[] => [
  {
    title: 'Attempts',
    kind: 'bars',
    unit: '',
    lines: [
      { label: 'Accepted', color: '--won', of: ({ delivered }) => delivered },
      { label: 'Refused', color: '--problem', of: ({ refused }) => refused },
      { label: 'No answer', color: '--test', of: ({ unreachable, unknown }) => unreachable + unknown },
    ],
  },
  {
    title: 'Time of an attempt, at most (ms)',
    kind: 'lines',
    unit: ' ms',
    lines: [
      {
        label: 'Half of them',
        color: '--accent',
        of: ({ durations }) => quantileOf(bounds, durations, median),
      },
      { label: '95 of 100', color: '--problem', of: ({ durations }) => quantileOf(bounds, durations, most) },
      {
        label: 'Wait for the first',
        color: '--test',
        of: ({ first_delays }) => quantileOf(delays, first_delays, most),
      },
    ],
  },
]

function sentenceOf({ points, duration_bounds_ms: bounds }: Series) {
  const [delivered, failed] = points.reduce(
    ([ok, bad], point) => [ok + point.delivered, bad + failedOf(point)],
    [0, 0],
  )
  const slow = quantileOf(
    bounds,
    points.reduce<number[]>((sum, { durations }) => addCounts(sum, durations), []),
    most,
  )
  return `${delivered} attempts were accepted, ${failed} were not${slow === null ? '' : `; 95 of 100 took ${slow} ms at most`}.`
}

const columnsOf = ({ duration_bounds_ms: bounds }: Series) => [
  { title: 'Accepted', number: true, cell: ({ delivered }: EndpointPoint) => delivered },
  { title: 'Refused', number: true, cell: ({ refused }: EndpointPoint) => refused },
  {
    title: 'No answer',
    number: true,
    cell: ({ unreachable, unknown }: EndpointPoint) => unreachable + unknown,
  },
  {
    title: '95 of 100, ms',
    number: true,
    cell: ({ durations }: EndpointPoint) => quantileOf(bounds, durations, most) ?? '–',
  },
]
