import './styles/bottle.css'
import { bottleGame } from './games/bottle-game.tsx'
import { startGame } from './play/start-game.tsx'

startGame(bottleGame)
