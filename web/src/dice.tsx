import './styles/dice.css'
import icon from './parts/dice-icon.svg'
import type { Round } from './api/records.ts'
import { DicePlayfield } from './games/dice-playfield.tsx'
import { textOf } from './play/game-definition.ts'
import type { GameDefinition } from './play/game-definition.ts'
import { prefersStill } from './play/motion.ts'
import { startGame } from './play/start-game.tsx'

const rollMs = 650

const diceGame: GameDefinition = {
  slug: 'dice',
  title: 'Dice',
  icon,
  Playfield: DicePlayfield,
  revealMs: () => (prefersStill() ? 0 : rollMs),
  outcomeText: (round) => `Rolled ${textOf(round.outcome, 'roll')}`,
  betText: ({ bet }: Round) =>
    `${textOf(bet, 'direction') === 'over' ? 'Over' : 'Under'} ${textOf(bet, 'target')}`,
}

startGame(diceGame)
