/** @jsxImportSource preact */
import { type ComponentChildren, render } from 'preact'
import baseStyles from '../../../src/styles/base.css?inline'
import bottleStyles from '../../../src/styles/bottle.css?inline'
import diceStyles from '../../../src/styles/dice.css?inline'
import minesStyles from '../../../src/styles/mines.css?inline'
import playStyles from '../../../src/styles/play.css?inline'
import { BottleStage } from '../../../src/games/bottle-stage.tsx'
import { DiceStage, readTarget, targetRange } from '../../../src/games/dice-stage.tsx'
import { MinesBoard } from '../../../src/games/mines-board.tsx'
import { numberOf, textOf } from '../../../src/play/game-definition.ts'
import { emptyTable, type TableState } from '../../../src/play/table-state.ts'
import type { Frame } from './frames-of.ts'

const styles: Readonly<Record<string, string>> = {
  dice: diceStyles,
  mines: minesStyles,
  'spin-bottle': bottleStyles,
}

/**
 * The stage of the play page in `host`, drawn by the same code and styles. A shadow root keeps those styles
 * and the dashboard's apart.
 * @returns what draws a frame, and what ends it
 */
export function openStage(host: HTMLElement, game: string) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  root.adoptedStyleSheets = [baseStyles, playStyles, styles[game] ?? ''].map((text) => {
    const sheet = new CSSStyleSheet()
    // The colours of all pages stand at the root of a page, which here is the host.
    sheet.replaceSync(text.replaceAll(':root', ':host'))
    return sheet
  })
  return {
    draw: (frame: Frame) => render(stageOf(frame), root),
    end: () => render(null, root),
  }
}

function stageOf({ round, activity, tile }: Frame): ComponentChildren {
  const state: TableState = { ...emptyTable, phase: 'open', round, activity, tile }
  const { game, bet } = round
  const nothing = () => undefined
  if (game === 'dice') {
    const direction = textOf(bet, 'direction') === 'under' ? 'under' : 'over'
    const target = readTarget(textOf(bet, 'target')) ?? 0
    const range = targetRange(direction)
    return <DiceStage state={state} direction={direction} target={target} range={range} onAim={nothing} />
  }
  if (game === 'mines')
    return (
      <section class="stage mines-stage">
        <MinesBoard state={state} onOpen={nothing} />
      </section>
    )
  const [sectors, pick] = [numberOf(bet, 'sectors'), numberOf(bet, 'pick')]
  return <BottleStage state={state} sectors={sectors} pick={pick} onPick={nothing} />
}
