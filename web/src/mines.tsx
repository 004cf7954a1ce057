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
  betText(round) {
    const mines = minesOf(round)
    return mines === 1 ? '1 mine' : `${mines} mines`
  },
})
