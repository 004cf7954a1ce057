import { sectorName } from '@pitboss/fairness/round-line'
import { SPIN_BOTTLE_SECTORS } from '@pitboss/fairness/games/spin-bottle'
import { formatMultiplier, multiplyRational, rational } from '@pitboss/money/rational'
import { useState } from 'preact/hooks'
import { Choices } from '../parts/choices.tsx'
import { Figures } from '../parts/figures.tsx'
import { BetForm } from '../play/bet-form.tsx'
import type { PlayfieldProps } from '../play/game-definition.ts'
import { multiplierText } from '@pitboss/money/money-text'
import { readDecimal } from '../play/money-text.ts'
import { BottleStage } from './bottle-stage.tsx'

const sectorChoices = SPIN_BOTTLE_SECTORS.map((value) => ({
  value,
  label: String(value),
  hint: `${value} sectors`,
}))

export function BottlePlayfield(props: PlayfieldProps) {
  const { state, sitting } = props
  const [sectors, setSectors] = useState(6)
  const [pick, setPick] = useState(0)
  const busy = state.activity !== 'idle'
  const winMultiplier = multiplyRational(readDecimal(sitting.game.rtp), rational(BigInt(sectors)))
  const picks = Array.from({ length: sectors }, (_, sector) => ({
    value: sector,
    label: sectorName(sector),
    hint: `Sector ${sectorName(sector)}`,
  }))
  const divide = (count: number) => {
    setSectors(count)
    setPick(Math.min(pick, count - 1))
  }
  return (
    <div class="playfield">
      <BottleStage state={state} sectors={sectors} pick={pick} onPick={busy ? () => undefined : setPick} />
      <BetForm {...props} bet={{ pick, sectors }} multipliers={[winMultiplier]} playLabel="Spin" showsWin>
        <Choices
          legend="Sectors"
          name="sectors"
          choices={sectorChoices}
          chosen={sectors}
          disabled={busy}
          onChoose={divide}
        />
        <Choices
          legend="Your pick"
          name="pick"
          choices={picks}
          chosen={pick}
          disabled={busy}
          onChoose={setPick}
        />
        <Figures
          figures={[
            { name: 'Win chance', value: `${(100 / sectors).toFixed(2)} %` },
            { name: 'Multiplier', value: multiplierText(formatMultiplier(winMultiplier)) },
          ]}
        />
      </BetForm>
    </div>
  )
}
