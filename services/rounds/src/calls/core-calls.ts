import type { Bus } from '@pitboss/bus/connect-bus'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { opsRewriteSeals } from '@pitboss/contracts/calls/seals'
import type { RewindStore } from '@pitboss/storage/rewind-store'
import type { RewriteSeals } from '@pitboss/storage/rewrite-seals'
import type { Actions } from '../actions/create-actions.ts'
import type { Parts } from '../actions/parts.ts'
import type { PlaceTransaction } from '../actions/place-transaction.ts'
import type { RoundsContext } from '../context.ts'
import { playerCalls } from './player.ts'
import {
  createRepublishHandlers,
  createRestoreHandlers,
  createRewindHandlers,
  createRoundHandlers,
  createTransactionHandlers,
} from './rounds.ts'
import { sessionCalls } from './sessions.ts'

type Given = RoundsContext &
  Pick<Parts, 'actor' | 'settleRound'> &
  Actions & {
    readonly placeTransaction: PlaceTransaction
    readonly seals: RewriteSeals
    readonly rewinds: RewindStore
    readonly bus: Bus
  }

/** Every call that the core answers. */
export function coreCalls(given: Given): CallHandler[] {
  const rounds = given.reads
  return [
    ...sessionCalls(given),
    ...createRoundHandlers({ ...given, rounds }),
    ...createRewindHandlers(given),
    ...createRepublishHandlers(given),
    ...createRestoreHandlers({ ...given, rounds }),
    ...createTransactionHandlers(given),
    handler(opsRewriteSeals.rounds, ({ order, after }) => given.seals.page({ after, isDry: order.dryRun })),
    ...playerCalls(given),
  ]
}
