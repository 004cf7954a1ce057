import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { useNarrow } from '../hooks/use-narrow.ts'
import { DataTable } from '../parts/data-table.tsx'
import { useZone } from '../time/zone.tsx'
import { exactText } from '../time/zone-time.ts'
import { durationText, laneX, layOut, narrowScale, type Row, scale } from './lay-out.ts'
import { lanes, stepsOfRound } from './steps-of-round.ts'

const stepsMax = 80

/** The money picture of a round: who told whom what, time running down. */
export function RoundPicture({ of: dossier }: { of: Dossier }) {
  const { zone } = useZone()
  const steps = stepsOfRound(dossier)
  const isNarrow = useNarrow()
  const size = isNarrow ? narrowScale : scale
  const { rows, width, height } = layOut(steps.slice(0, stepsMax), zone, size)
  return (
    <section className="card picture-card" aria-label="Money picture">
      <h2>Money picture</h2>
      <p className="about">
        Time runs down: 100 ms are 10 pixels, a row takes {size.rowMin} at least, and a longer pause is cut
        and told. A dashed arrow has an unknown outcome; the arrow that settled it says so.
      </p>
      <div className="picture" role="region" aria-label="Drawing" data-narrow={isNarrow || undefined}>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          role="img"
          aria-label={`${rows.length} steps between player, Pitboss, wallet, events and receivers`}
        >
          <defs>
            {(['plain', 'good', 'problem', 'unknown'] as const).map((tone) => (
              <marker
                key={tone}
                id={`head-${tone}`}
                data-tone={tone}
                viewBox="0 0 8 8"
                refX="8"
                refY="4"
                markerWidth="8"
                markerHeight="8"
                orient="auto-start-reverse"
              >
                <path d="M0 0L8 4L0 8z" />
              </marker>
            ))}
          </defs>
          {lanes.map((name, at) => (
            <g key={name} className="lane">
              <line x1={laneX(at, size)} x2={laneX(at, size)} y1={size.top - 14} y2={height - 8} />
              <text x={laneX(at, size)} y={size.top - 30 + (size.ownLine ? 8 : 0)} textAnchor="middle">
                {name}
              </text>
            </g>
          ))}
          {rows.map((row, at) => (
            <Arrow key={`${row.atMs} ${at}`} of={row} size={size} />
          ))}
        </svg>
      </div>
      {steps.length > stepsMax && (
        <p className="about">
          The drawing ends after {stepsMax} of {steps.length} steps; the list has all.
        </p>
      )}
      <details open={isNarrow}>
        <summary>As a list</summary>
        <DataTable
          label="Steps"
          rows={steps.map((step, at) => ({ ...step, at }))}
          keyOf={({ at }) => String(at)}
          columns={[
            {
              title: 'When',
              cell: ({ atMs }) => <code>{exactText(new Date(atMs).toISOString(), zone)}</code>,
            },
            { title: 'From', cell: ({ from }) => lanes[from] },
            { title: 'To', cell: ({ to }) => lanes[to] },
            { title: 'What', cell: ({ text }) => text },
          ]}
        />
      </details>
    </section>
  )
}

function Arrow({ of: row, size }: { of: Row; size: typeof scale }) {
  const { x1, x2, y, tone, clock, cutMs } = row
  const gap = x2 > x1 ? 6 : -6
  // Nobody knows whether it arrived: the arrow ends before the lane.
  const end = tone === 'unknown' ? x2 - gap * (size.ownLine ? 3 : 6) : x2 - gap
  const aside = size.ownLine ? { x: 0 } : { x: size.left - 52, textAnchor: 'end' as const }
  return (
    <g className="arrow" data-tone={tone}>
      {cutMs !== null && (
        <text className="cut" {...aside} y={y - size.pauseMax / 2}>
          ⋮ {durationText(cutMs)}
        </text>
      )}
      {clock !== null && !size.ownLine && (
        <text className="clock" {...aside} y={y + 4}>
          {clock}
        </text>
      )}
      <line x1={x1 + gap} x2={end} y1={y} y2={y} markerEnd={`url(#head-${tone})`} />
      <Words of={row} size={size} />
    </g>
  )
}

/** What an arrow says: above its middle, or on a line of its own behind the clock. */
function Words({ of: { x1, x2, y, text, clock }, size }: { of: Row; size: typeof scale }) {
  const { textMax, ownLine } = size
  const place = ownLine ? { x: 0, y: y - 9 } : { x: (x1 + x2) / 2, y: y - 6, textAnchor: 'middle' as const }
  const isLong = text.length > textMax
  return (
    <text {...place}>
      {isLong && <title>{text}</title>}
      {ownLine && clock !== null && <tspan className="clock">{clock} </tspan>}
      {isLong ? `${text.slice(0, textMax - 1)}…` : text}
    </text>
  )
}
