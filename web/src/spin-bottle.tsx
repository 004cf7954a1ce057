import './styles/bottle.css'
import icon from './parts/bottle-icon.svg'
import { sectorName } from '@pitboss/fairness/round-line'
import { spinMs } from './games/bottle-stage.tsx'
import { BottlePlayfield } from './games/bottle-playfield.tsx'
import { numberOf } from './play/game-definition.ts'
import { prefersStill } from './play/motion.ts'
import { startGame } from './play/start-game.tsx'

startGame({
  slug: 'spin-bottle',
  title: 'Spin the Bottle',
  icon,
  Playfield: BottlePlayfield,
  revealMs: () => (prefersStill() ? 0 : spinMs),
  betText: ({ bet }) => `Sector ${sectorName(numberOf(bet, 'pick'))} of ${numberOf(bet, 'sectors')}`,
})
