/** @jsxImportSource preact */
import { diceWinningRolls } from '@pitboss/fairness/games/dice'
import { useEffect, useState } from 'preact/hooks'
import { LastResults } from '../parts/last-results.tsx'
import { prefersStill } from '../play/motion.ts'
import type { TableState } from '../play/table-state.ts'

/** The rolled number over a line from 0 to 100 with the winning side lit; the line's knob aims. */
export function DiceStage({
  state,
  direction,
  target,
  range,
  onAim,
}: {
  state: TableState
  direction: Direction
  target: number
  range: { min: number; max: number }
  onAim: (target: number) => void
}) {
  const { round, activity, waiting, history } = state
  const outcome = round?.outcome ?? null
  const roll = outcome === null ? null : String(outcome.roll)
  const rolling = activity === 'showing' || (activity === 'placing' && waiting === null)
  const shown = useRolling(roll, rolling)
  const settled = roll !== null && activity !== 'showing'
  const result = !settled ? 'none' : outcome?.won === true ? 'won' : 'lost'
  const position = settled ? (readTarget(roll) ?? 0) / 100 : null
  return (
    <section class="stage dice-stage" aria-label="Dice">
      <LastResults history={history} label="Last rolls" text={({ outcome: past }) => String(past?.roll)} />
      <p class="roll" data-result={roll === null && !rolling ? 'idle' : result} aria-hidden="true">
        {shown}
      </p>
      <div class="track" data-direction={direction} style={{ '--target': `${target / 100}%` }}>
        {position === null ? null : (
          <span class="pin" data-result={result} style={{ '--roll': `${position}%` }} aria-hidden="true">
            {roll}
          </span>
        )}
        <div class="rail" aria-hidden="true" />
        <input
          type="range"
          aria-label="Target"
          aria-valuetext={`${direction} ${targetText(target)}`}
          min={0}
          max={10_000}
          step={1}
          value={target}
          disabled={activity !== 'idle'}
          onInput={(event) =>
            onAim(Math.min(Math.max(event.currentTarget.valueAsNumber, range.min), range.max))
          }
        />
        <div class="scale" aria-hidden="true">
          {[0, 25, 50, 75, 100].map((mark) => (
            <span key={mark}>{mark}</span>
          ))}
        </div>
      </div>
    </section>
  )
}

/** The number to show: digits that run while it is rolling, then the roll. */
function useRolling(roll: string | null, rolling: boolean): string {
  const [digits, setDigits] = useState('50.00')
  const runs = rolling && !prefersStill()
  useEffect(() => {
    if (!runs) return undefined
    const timer = setInterval(
      () => setDigits(targetText(Math.floor(Math.random() * 10_000)).padStart(5, '0')),
      50,
    )
    return () => clearInterval(timer)
  }, [runs])
  if (runs) return digits
  return roll ?? '00.00'
}

export type Direction = 'over' | 'under'

const winningRollsMax = 9800
const lastRoll = 9999

/** "50.00" as 5000; null for text that is no target. Sloppy forms such as "5" and "50.5" are understood. */
export function readTarget(text: string): number | null {
  const match = /^(\d{1,2})(?:[.,](\d{0,2}))?$/.exec(text.trim())
  if (match === null) return null
  const [, whole = '', decimals = ''] = match
  return Number(whole) * 100 + Number(decimals.padEnd(2, '0'))
}

/** 5000 as "50.00", the form that a bet has. */
export function targetText(index: number): string {
  return `${Math.floor(index / 100)}.${String(index % 100).padStart(2, '0')}`
}

/** The targets that leave 1 to 9800 winning rolls. */
export function targetRange(direction: Direction): { min: number; max: number } {
  return direction === 'over'
    ? { min: lastRoll - winningRollsMax, max: lastRoll - 1 }
    : { min: 1, max: winningRollsMax }
}

/** The target on the other side with the same chance. */
export function mirrored(index: number): number {
  return lastRoll - index
}

/** Winning rolls of 10,000 as a percentage. */
export function chanceText(index: number, direction: Direction): string {
  const rolls = diceWinningRolls(index, direction)
  return `${targetText(rolls)} %`
}
