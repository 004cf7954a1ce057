import './styles/dice.css'
import icon from './parts/dice-icon.svg'
import { DicePlayfield } from './games/dice-playfield.tsx'
import { textOf } from './play/game-definition.ts'
import { prefersStill } from './play/motion.ts'
import { startGame } from './play/start-game.tsx'

const rollMs = 650

startGame({
  slug: 'dice',
  title: 'Dice',
  icon,
  Playfield: DicePlayfield,
  revealMs: () => (prefersStill() ? 0 : rollMs),
  betText: ({ bet }) => `${textOf(bet, 'direction') === 'over' ? 'Over' : 'Under'} ${textOf(bet, 'target')}`,
})
