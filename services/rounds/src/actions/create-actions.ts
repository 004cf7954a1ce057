import type { RoundsContext } from '../context.ts'
import { createEndAsTold } from './end-as-told.ts'
import { createHealOrphans } from './heal-orphans.ts'
import type { Parts } from './parts.ts'
import { createPlayRound } from './play-round.ts'
import { createReadRounds } from './read-rounds.ts'
import { createResolveOwed } from './resolve-owed.ts'
import { createTellEndAgain } from './tell-end-again.ts'
import { createVoidRound } from './void-round.ts'

export type Actions = ReturnType<typeof createActions>

/** Makes the actions behind the calls about rounds, but for movements that the operator places. */
export function createActions(given: RoundsContext & Parts) {
  const reads = createReadRounds(given)
  return {
    reads,
    voidRound: createVoidRound({ ...given, reads }),
    tellEndAgain: createTellEndAgain(given),
    orphans: createHealOrphans(given),
    endAsTold: createEndAsTold(given),
    resolveOwed: createResolveOwed(given),
    playRound: createPlayRound(given),
  }
}
