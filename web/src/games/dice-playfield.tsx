import { diceWinningRolls } from '@pitboss/fairness/games/dice'
import { formatMultiplier, multiplyRational, rational } from '@pitboss/money/rational'
import { useState } from 'preact/hooks'
import { Choices } from '../parts/choices.tsx'
import { Figures } from '../parts/figures.tsx'
import { BetForm } from '../play/bet-form.tsx'
import type { PlayfieldProps } from '../play/game-definition.ts'
import { multiplierText } from '@pitboss/money/money-text'
import { readDecimal } from '../play/money-text.ts'
import {
  chanceText,
  DiceStage,
  type Direction,
  mirrored,
  readTarget,
  targetRange,
  targetText,
} from './dice-stage.tsx'

const directions = [
  { value: 'over', label: 'Roll over' },
  { value: 'under', label: 'Roll under' },
] as const

export function DicePlayfield(props: PlayfieldProps) {
  const { state, sitting } = props
  const [direction, setDirection] = useState<Direction>('over')
  const [typed, setTyped] = useState('50.00')
  const [target, setTarget] = useState(5000)
  const { min, max } = targetRange(direction)
  const problem = readTarget(typed) === target ? null : `From ${targetText(min)} to ${targetText(max)}.`
  const winMultiplier = multiplyRational(
    readDecimal(sitting.game.rtp),
    rational(10_000n, BigInt(diceWinningRolls(target, direction))),
  )
  const busy = state.activity !== 'idle'

  const aim = (index: number) => {
    setTarget(index)
    setTyped(targetText(index))
  }
  const type = (text: string) => {
    setTyped(text)
    const index = readTarget(text)
    if (index !== null && index >= min && index <= max) setTarget(index)
  }
  const turn = (to: Direction) => {
    if (to === direction) return
    setDirection(to)
    aim(mirrored(target))
  }

  return (
    <div class="playfield">
      <DiceStage state={state} direction={direction} target={target} range={{ min, max }} onAim={aim} />
      <BetForm
        {...props}
        bet={problem === null ? { target: targetText(target), direction } : null}
        multipliers={[winMultiplier]}
        playLabel="Roll"
        showsWin
      >
        <Choices
          legend="Direction"
          name="direction"
          choices={directions}
          chosen={direction}
          disabled={busy}
          onChoose={turn}
        />
        <div class="field">
          <label for="target">Target</label>
          <input
            id="target"
            type="text"
            inputMode="decimal"
            autocomplete="off"
            value={typed}
            disabled={busy}
            aria-invalid={problem !== null}
            aria-describedby="target-hint"
            onInput={(event) => type(event.currentTarget.value)}
            onBlur={() => setTyped(targetText(target))}
          />
          <p id="target-hint" class={problem === null ? 'unseen' : 'problem'}>
            {problem ?? `From ${targetText(min)} to ${targetText(max)}`}
          </p>
        </div>
        <Figures
          figures={[
            { name: 'Win chance', value: chanceText(target, direction) },
            { name: 'Multiplier', value: multiplierText(formatMultiplier(winMultiplier)) },
          ]}
        />
      </BetForm>
    </div>
  )
}
