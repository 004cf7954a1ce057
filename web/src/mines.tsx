import './styles/mines.css'
import icon from './parts/mines-icon.svg'
import { minesOf } from './games/mines-board.tsx'
import { MinesPlayfield } from './games/mines-playfield.tsx'
import { prefersStill } from './play/motion.ts'
import { startGame } from './play/start-game.tsx'

const boardTurnMs = 450

startGame({
  slug: 'mines',
  title: 'Mines',
  icon,
  Playfield: MinesPlayfield,
  revealMs: () => (prefersStill() ? 0 : boardTurnMs),
  outcomeText(round) {
    const opened = round.outcome?.tiles_opened
    const safe = Array.isArray(opened) ? opened.length - (round.outcome?.won === true ? 0 : 1) : 0
    if (round.outcome?.won !== true) return `Hit a mine after ${tilesText(safe)}`
    return `Cashed out after ${tilesText(safe)}`
  },
  betText(round) {
    const mines = minesOf(round)
    return mines === 1 ? '1 mine' : `${mines} mines`
  },
})

function tilesText(count: number): string {
  return count === 1 ? '1 safe tile' : `${count} safe tiles`
}
