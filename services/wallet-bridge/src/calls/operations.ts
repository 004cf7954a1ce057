import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import {
  opsHealMovements,
  opsListMovements,
  opsListStakes,
  opsMovementEvents,
  opsMovementFacts,
  opsMovementsOfRound,
  opsPlayerMovements,
  opsRepublishMovements,
  opsResolveMovement,
  opsShowMovement,
  opsStakesInDoubt,
  opsWalletStatus,
} from '@pitboss/contracts/calls/wallet-ops'
import type { Clock } from '@pitboss/runtime/clock'
import type { Heal } from '../actions/heal-movements.ts'
import type { OperateMovements } from '../actions/operate-movements.ts'
import type { TellEndsAgain } from '../actions/tell-ends-again.ts'
import {
  toAttemptRecord,
  toMovementFacts,
  toMovementRecord,
  toOperationsRecord,
} from '../records/render-movement.ts'

/** The calls of the operations command. Source: docs/contract.md, section 10. */
export function operationsCalls({
  operateMovements,
  healMovements,
  tellEndsAgain,
  clock,
}: {
  operateMovements: OperateMovements
  healMovements: (asked: Heal, requestId: string) => Promise<string[]>
  tellEndsAgain: TellEndsAgain
  clock: Clock
}): CallHandler[] {
  return [
    handler(opsListMovements, async (filters) => {
      const now = clock.now()
      const found = await operateMovements.list(filters, now)
      return { data: found.map((document) => toOperationsRecord(document, now)) }
    }),
    handler(opsShowMovement, async ({ reference }) => {
      const document = await operateMovements.find(reference)
      return {
        movement: toOperationsRecord(document, clock.now()),
        attempts: document.attempts.map(toAttemptRecord),
      }
    }),
    handler(opsResolveMovement, async ({ order, reference, as }, { requestId }) =>
      toOperationsRecord(await operateMovements.resolve({ reference, as, ...order }, requestId), clock.now()),
    ),
    handler(opsHealMovements, async (asked, { requestId }) => ({
      data: await healMovements(asked, requestId),
    })),
    handler(opsStakesInDoubt, async ({ scope, after }) => {
      const { found, next } = await operateMovements.inDoubt(scope, after)
      const data = found.map(({ transactionId, reference, roundId, createdAt }) => ({
        ...{ transaction_id: transactionId, reference, round_id: roundId },
        asked_at: createdAt.toISOString(),
      }))
      return { data, next }
    }),
    handler(opsMovementsOfRound, async ({ roundId }) => {
      const now = clock.now()
      const found = await operateMovements.ofRound(roundId)
      return {
        data: found.map((document) => ({
          movement: toOperationsRecord(document, now),
          attempts: document.attempts.map(toAttemptRecord),
        })),
      }
    }),
    handler(opsPlayerMovements, async ({ scope, playerId, before }) => {
      const { items, next } = await operateMovements.ofPlayer(scope, playerId, before)
      const data = items.map((document) => ({
        movement: toMovementRecord(document),
        attempts: document.attempts.map(toAttemptRecord),
      }))
      return { data, next }
    }),
    handler(opsListStakes, async ({ scope, from, to, after }) => {
      const window = { from: new Date(from), to: new Date(to) }
      const { ids, next } = await operateMovements.stakes(scope, window, after)
      return { data: ids, next }
    }),
    handler(opsMovementFacts, async (about) => {
      const found =
        'roundId' in about
          ? await operateMovements.ofRound(about.roundId)
          : [await operateMovements.find(about.reference)]
      return { data: found.map(toMovementFacts) }
    }),
    handler(opsMovementEvents, async ({ roundId }) => ({
      data: (await tellEndsAgain.list(roundId)).map(({ document, type, entry }) => ({
        ...{ event_id: entry.id, type, transaction_id: document.transactionId },
      })),
    })),
    handler(opsRepublishMovements, async ({ order, roundId, eventIds }) => ({
      event_ids: await tellEndsAgain.again(roundId, eventIds, order.dryRun),
    })),
    handler(opsWalletStatus, async () => {
      const { pending, breakersOpen } = await operateMovements.status(clock.now())
      return {
        pending: pending.all,
        oldest_pending_at: pending.oldest?.createdAt.toISOString() ?? null,
        alarms: { over_5m: pending.over5m, over_1h: pending.over1h, over_24h: pending.over24h },
        breakers_open: breakersOpen,
      }
    }),
  ]
}
