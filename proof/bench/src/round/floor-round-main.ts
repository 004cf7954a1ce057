import { serveFloor } from '../harness/serve-floor.ts'
import { floorIndexes } from './floor-indexes.ts'
import { createFloorRounds } from './floor-round.ts'

/* The bare round. */

await serveFloor({
  database: 'floor_round',
  indexes: floorIndexes,
  workOf(floor) {
    const play = createFloorRounds(floor)
    return () => play
  },
})
