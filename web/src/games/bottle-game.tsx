import type { Round } from '../api/records.ts'
import icon from '../parts/bottle-icon.svg'
import type { GameDefinition } from '../play/game-definition.ts'
import { prefersStill } from '../play/motion.ts'
import { numberOf, textOf } from '../play/fields.ts'
import { BottlePlayfield } from './bottle-playfield.tsx'
import { sectorName, spinMs } from './bottle-numbers.ts'

export const bottleGame: GameDefinition = {
  slug: 'spin-bottle',
  title: 'Spin the Bottle',
  icon,
  Playfield: BottlePlayfield,
  revealMs: () => (prefersStill() ? 0 : spinMs),
  outcomeText: ({ outcome }: Round) =>
    `The bottle points at ${sectorName(numberOf(outcome, 'sector'))}, ${textOf(outcome, 'angle')}°`,
  betText: ({ bet }: Round) => `Sector ${sectorName(numberOf(bet, 'pick'))} of ${numberOf(bet, 'sectors')}`,
}
