import './styles/bottle.css'
import icon from './parts/bottle-icon.svg'
import type { Round } from './api/records.ts'
import { sectorName, spinMs } from './games/bottle-stage.tsx'
import { BottlePlayfield } from './games/bottle-playfield.tsx'
import { numberOf, textOf } from './play/game-definition.ts'
import type { GameDefinition } from './play/game-definition.ts'
import { prefersStill } from './play/motion.ts'
import { startGame } from './play/start-game.tsx'

const bottleGame: GameDefinition = {
  slug: 'spin-bottle',
  title: 'Spin the Bottle',
  icon,
  Playfield: BottlePlayfield,
  revealMs: () => (prefersStill() ? 0 : spinMs),
  outcomeText: ({ outcome }: Round) =>
    `The bottle points at ${sectorName(numberOf(outcome, 'sector'))}, ${textOf(outcome, 'angle')}°`,
  betText: ({ bet }: Round) => `Sector ${sectorName(numberOf(bet, 'pick'))} of ${numberOf(bet, 'sectors')}`,
}

startGame(bottleGame)
