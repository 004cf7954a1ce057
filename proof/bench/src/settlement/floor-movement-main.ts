import { movementIndexes } from '@pitboss/wallet-bridge/storage/listed-movements'
import { serveFloor } from '../harness/serve-floor.ts'
import { moveOnFloor } from './floor-movement.ts'
import { byTurns } from './make-movement.ts'

/* The bare movement, with the indexes that the product keeps. */

await serveFloor({
  database: 'floor_movement',
  indexes: movementIndexes,
  workOf(floor) {
    const move = moveOnFloor(floor)
    return () => byTurns(move)
  },
})
