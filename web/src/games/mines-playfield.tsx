import { MINES_TILES, minesMultiplier, minesMultipliers } from '@pitboss/fairness/games/mines'
import { formatMultiplier, multiplyFloor } from '@pitboss/money/rational'
import { useState } from 'preact/hooks'
import type { Round } from '../api/records.ts'
import { Choices } from '../parts/choices.tsx'
import { Figures } from '../parts/figures.tsx'
import { LastResults } from '../parts/last-results.tsx'
import { BetForm } from '../play/bet-form.tsx'
import type { PlayfieldProps } from '../play/game-definition.ts'
import { moneyText, multiplierText } from '@pitboss/money/money-text'
import { minorText, readDecimal, readMinor, shortMultiplierText } from '../play/money-text.ts'
import { isOver, takesActions } from '../play/table-state.ts'
import { MinesBoard, minesOf, safeChanceText } from './mines-board.tsx'

const quickCounts = [1, 3, 5, 10, 24].map((value) => ({
  value,
  label: String(value),
  hint: value === 1 ? '1 mine' : `${value} mines`,
}))
const ladderShown = 5

export function MinesPlayfield(props: PlayfieldProps) {
  const { table, state, sitting } = props
  const { round } = state
  const [chosenMines, setMines] = useState(3)
  const underWay = round !== null && !isOver(round)
  const mines = underWay ? minesOf(round) : chosenMines
  const rtp = readDecimal(sitting.game.rtp)
  const opened = round?.status === 'OPEN' ? (round.progress?.tiles_opened.length ?? 0) : 0
  const step = (count: number) => multiplierText(formatMultiplier(minesMultiplier(rtp, mines, count)))
  const steps = Array.from({ length: Math.min(ladderShown, MINES_TILES - mines - opened) }, (_, index) => ({
    tiles: opened + index + 1,
    pays: shortMultiplierText(formatMultiplier(minesMultiplier(rtp, mines, opened + index + 1))),
  }))

  return (
    <div class="playfield">
      <section class="stage mines-stage" aria-label="Mines">
        <LastResults
          history={state.history}
          label="Last rounds"
          text={({ multiplier }) => shortMultiplierText(multiplier ?? '0')}
        />
        <MinesBoard state={state} onOpen={(tile) => void table.reveal(tile)} />
        <ol class="ladder" aria-label="What the next safe tiles pay">
          {steps.map(({ tiles, pays }) => (
            <li key={tiles}>
              <small>{tiles === 1 ? '1 tile' : `${tiles} tiles`}</small> {pays}
            </li>
          ))}
        </ol>
      </section>
      {round?.status === 'OPEN' || (round !== null && state.activity === 'cashing-out') ? (
        <OpenRound {...props} round={round} mines={mines} opened={opened} next={step(opened + 1)} />
      ) : (
        <BetForm
          {...props}
          bet={{ mines }}
          multipliers={minesMultipliers(rtp, mines)}
          playLabel="Start round"
          showsWin={false}
        >
          <Choices
            legend="Mines"
            name="mines-quick"
            choices={quickCounts}
            chosen={mines}
            disabled={state.activity !== 'idle'}
            onChoose={setMines}
          />
          <div class="field">
            <label for="mines">
              Number of mines <output for="mines">{mines}</output>
            </label>
            <input
              id="mines"
              type="range"
              min={1}
              max={MINES_TILES - 1}
              value={mines}
              disabled={state.activity !== 'idle'}
              onInput={(event) => setMines(event.currentTarget.valueAsNumber)}
            />
          </div>
          <Figures
            figures={[
              { name: 'First tile safe', value: safeChanceText(mines, 0) },
              { name: 'First tile pays', value: step(1) },
            ]}
          />
        </BetForm>
      )}
    </div>
  )
}

/** Shown while tiles can be opened: the payout now, the payout after the next tile, and the cash-out. */
function OpenRound({
  table,
  state,
  sitting,
  round,
  mines,
  opened,
  next,
}: PlayfieldProps & { round: Round; mines: number; opened: number; next: string }) {
  const { currency } = round
  const stake = readMinor(round.stake, currency) ?? 0n
  const pays = multiplyFloor(stake, minesMultiplier(readDecimal(sitting.game.rtp), mines, opened))
  const canAct = takesActions(state)
  const closed = Array.from({ length: MINES_TILES }, (_, tile) => tile).filter(
    (tile) => !(round.progress?.tiles_opened ?? []).includes(tile),
  )
  const openAny = () => {
    const tile = closed[Math.floor(Math.random() * closed.length)]
    if (tile !== undefined) void table.reveal(tile)
  }
  return (
    <div class="bet-form">
      <Figures
        figures={[
          { name: 'Stake', value: round.free_bet ? 'Free bet' : moneyText(round.stake, currency) },
          { name: 'Mines', value: String(mines) },
          { name: 'Next tile safe', value: safeChanceText(mines, opened) },
          { name: 'Next tile pays', value: next },
        ]}
      />
      <button
        type="button"
        class="button main-button"
        disabled={!canAct || opened === 0}
        onClick={() => void table.cashOut()}
        data-busy={state.activity === 'cashing-out' ? 'yes' : 'no'}
        data-testid="cash-out"
      >
        <span>{opened === 0 ? 'Cash out' : `Cash out ${minorText(pays, currency)}`}</span>
        <small>{opened === 0 ? 'after the first safe tile' : multiplierText(round.multiplier ?? '0')}</small>
      </button>
      <button type="button" class="button quiet-button" disabled={!canAct} onClick={openAny}>
        Open any tile
      </button>
    </div>
  )
}
