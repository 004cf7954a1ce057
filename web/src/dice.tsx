import './styles/dice.css'
import { diceGame } from './games/dice-game.tsx'
import { startGame } from './play/start-game.tsx'

startGame(diceGame)
