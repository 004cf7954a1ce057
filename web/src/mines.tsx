import './styles/mines.css'
import { minesGame } from './games/mines-game.tsx'
import { startGame } from './play/start-game.tsx'

startGame(minesGame)
