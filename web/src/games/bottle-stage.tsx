/** @jsxImportSource preact */
import { sectorName } from '@pitboss/fairness/round-line'
import { useEffect, useRef, useState } from 'preact/hooks'
import { LastResults } from '../parts/last-results.tsx'
import { numberOf } from '../play/game-definition.ts'
import type { TableState } from '../play/table-state.ts'

const radius = 150
const labelRadius = 124
const fullTurns = 5

/** The wheel with its sectors and the bottle, which points where the round's angle says. */
export function BottleStage({
  state,
  sectors,
  pick,
  onPick,
}: {
  state: TableState
  sectors: number
  pick: number
  onPick: (sector: number) => void
}) {
  const { round, activity } = state
  const outcome = round?.outcome ?? null
  const turn = useTurn(round?.round_id ?? null, outcome === null ? null : Number(outcome.angle))
  const settled = outcome !== null && activity !== 'showing'
  const hit = settled && numberOf(outcome, 'sectors') === sectors ? numberOf(outcome, 'sector') : null
  return (
    <section class="stage bottle-stage" aria-label="Wheel">
      <LastResults
        history={state.history}
        label="Last spins"
        text={({ outcome: past }) => (past === null ? '' : sectorName(numberOf(past, 'sector')))}
      />
      <svg viewBox="-160 -160 320 320" aria-hidden="true" data-activity={activity}>
        <circle r={radius + 6} class="rim" />
        {Array.from({ length: sectors }, (_, sector) => {
          const label = pointAt(((sector + 0.5) * 360) / sectors, labelRadius)
          return (
            <g
              key={`${sectors}-${sector}`}
              class="slice"
              data-tint={sectors % 2 === 1 && sector === sectors - 1 ? 2 : sector % 2}
              data-picked={sector === pick ? 'yes' : 'no'}
              data-hit={sector === hit ? (outcome?.won === true ? 'won' : 'lost') : 'no'}
              onClick={() => onPick(sector)}
            >
              <path d={slicePath(sector, sectors, radius)} />
              <text x={label.x} y={label.y} dy="0.36em">
                {sectorName(sector)}
              </text>
            </g>
          )
        })}
        <circle r="58" class="hub" />
        <g class="bottle" style={{ transform: `rotate(${turn}deg)` }}>
          <path
            class="glass"
            d="M-7 -100h14v30c0 18 15 22 15 48v62a12 12 0 0 1-12 12h-20a12 12 0 0 1-12-12v-62c0-26 15-30 15-48z"
          />
          <path class="label" d="M-22 -8h44v34h-44z" />
          <path class="cap" d="M-9 -108h18v12h-18z" />
          <path class="gleam" d="M-15 -18c0-14 7-22 10-32v98h-10z" />
        </g>
      </svg>
    </section>
  )
}

/** Total degrees turned: each new result is some full turns further. */
function useTurn(roundId: string | null, angle: number | null): number {
  const [turn, setTurn] = useState(0)
  const shown = useRef<string | null>(null)
  useEffect(() => {
    if (roundId === null || angle === null || shown.current === roundId) return
    shown.current = roundId
    setTurn((current) => turnTo(current, angle, fullTurns))
  }, [roundId, angle])
  return turn
}

/** Time that the bottle turns. The style sheet's transition takes as long. */
export const spinMs = 2600

/** A slice of the wheel from `sector` · 360 / `sectors` degrees on, clockwise from the top. */
function slicePath(sector: number, sectors: number, radius: number): string {
  const from = pointAt((sector * 360) / sectors, radius)
  const to = pointAt(((sector + 1) * 360) / sectors, radius)
  return `M0 0L${from.x} ${from.y}A${radius} ${radius} 0 0 1 ${to.x} ${to.y}Z`
}

/** A point of the wheel, degrees clockwise from the top. */
function pointAt(degrees: number, radius: number): { x: number; y: number } {
  const radians = ((degrees - 90) * Math.PI) / 180
  return { x: round(Math.cos(radians) * radius), y: round(Math.sin(radians) * radius) }
}

/** The total turn that ends at `angle` after at least `turns` more full turns. */
function turnTo(current: number, angle: number, turns: number): number {
  const base = Math.ceil(current / 360) * 360
  return base + turns * 360 + angle
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
