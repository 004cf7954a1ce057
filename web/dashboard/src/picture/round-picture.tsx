import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { DataTable } from '../parts/data-table.tsx'
import { useZone } from '../time/zone.tsx'
import { exactText } from '../time/zone-time.ts'
import { durationText, laneX, layOut, type Row, scale } from './lay-out.ts'
import { lanes, stepsOfRound } from './steps-of-round.ts'

const stepsMax = 80
const textMax = 29

/** The money picture of a round: who told whom what, time running down. */
export function RoundPicture({ of: dossier }: { of: Dossier }) {
  const { zone } = useZone()
  const steps = stepsOfRound(dossier)
  const { rows, width, height } = layOut(steps.slice(0, stepsMax), zone)
  return (
    <section className="card picture-card" aria-label="Money picture">
      <h2>Money picture</h2>
      <p className="about">
        Time runs down: 100 ms are 10 pixels, a row takes 30 at least, and a longer pause is cut and told. A
        dashed arrow has an unknown outcome; the arrow that settled it says so.
      </p>
      <div className="picture" tabIndex={0} role="region" aria-label="Drawing, scrolls sideways">
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
              <line x1={laneX(at)} x2={laneX(at)} y1={scale.top - 14} y2={height - 8} />
              <text x={laneX(at)} y={24} textAnchor="middle">
                {name}
              </text>
            </g>
          ))}
          {rows.map((row, at) => (
            <Arrow key={`${row.atMs} ${at}`} of={row} />
          ))}
        </svg>
      </div>
      {steps.length > stepsMax && (
        <p className="about">
          The drawing ends after {stepsMax} of {steps.length} steps; the list has all.
        </p>
      )}
      <details open={window.matchMedia('(max-width: 700px)').matches}>
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

function Arrow({ of: { x1, x2, y, text, tone, clock, cutMs } }: { of: Row }) {
  const gap = x2 > x1 ? 6 : -6
  // Nobody knows whether it arrived: the arrow ends before the lane.
  const end = tone === 'unknown' ? x2 - gap * 6 : x2 - gap
  return (
    <g className="arrow" data-tone={tone}>
      {cutMs !== null && (
        <text className="cut" x={scale.left - 12} y={y - scale.pauseMax / 2} textAnchor="end">
          ⋮ {durationText(cutMs)}
        </text>
      )}
      {clock !== null && (
        <text className="clock" x={scale.left - 12} y={y + 4} textAnchor="end">
          {clock}
        </text>
      )}
      <line x1={x1 + gap} x2={end} y1={y} y2={y} markerEnd={`url(#head-${tone})`} />
      <text x={(x1 + x2) / 2} y={y - 6} textAnchor="middle">
        {text.length > textMax && <title>{text}</title>}
        {text.length > textMax ? `${text.slice(0, textMax - 1)}…` : text}
      </text>
    </g>
  )
}
