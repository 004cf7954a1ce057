import type { Round } from '../api/records.ts'
import icon from '../parts/dice-icon.svg'
import type { GameDefinition } from '../play/game-definition.ts'
import { prefersStill } from '../play/motion.ts'
import { textOf } from '../play/fields.ts'
import { DicePlayfield } from './dice-playfield.tsx'

const rollMs = 650

export const diceGame: GameDefinition = {
  slug: 'dice',
  title: 'Dice',
  icon,
  Playfield: DicePlayfield,
  revealMs: () => (prefersStill() ? 0 : rollMs),
  outcomeText: (round) => `Rolled ${textOf(round.outcome, 'roll')}`,
  betText: ({ bet }: Round) =>
    `${textOf(bet, 'direction') === 'over' ? 'Over' : 'Under'} ${textOf(bet, 'target')}`,
}
