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
  roundMovementsMax,
} from '@pitboss/contracts/calls/wallet-ops'
import { healMovements } from '../actions/heal-movements.ts'
import {
  findByReference,
  listInDoubt,
  listOfPlayer,
  listOverall,
  listStakes,
  resolveMovement,
} from '../actions/operate-movements.ts'
import { listEnds, republishEnds } from '../actions/republish-ends.ts'
import type { WalletContext } from '../context.ts'
import {
  toAttemptRecord,
  toMovementFacts,
  toMovementRecord,
  toOperationsRecord,
} from '../records/render-movement.ts'

/** The calls of the operations command. Source: docs/contract.md, section 10. */
export function operationsCalls(context: WalletContext): CallHandler[] {
  const { lists, pending, breakers, clock } = context
  return [
    handler(opsListMovements, async (filters) => {
      const now = clock.now()
      const found = await listOverall(context, filters, now)
      return { data: found.map((document) => toOperationsRecord(document, now)) }
    }),
    handler(opsShowMovement, async ({ reference }) => {
      const document = await findByReference(context, reference)
      return {
        movement: toOperationsRecord(document, clock.now()),
        attempts: document.attempts.map(toAttemptRecord),
      }
    }),
    handler(opsResolveMovement, async ({ order, reference, as }, { requestId }) =>
      toOperationsRecord(await resolveMovement(context, { reference, as, ...order }, requestId), clock.now()),
    ),
    handler(opsHealMovements, async (asked, { requestId }) => ({
      data: await healMovements(context, asked, requestId),
    })),
    handler(opsStakesInDoubt, async ({ scope, after }) => {
      const { found, next } = await listInDoubt(context, scope, after)
      const data = found.map(({ transactionId, reference, roundId, createdAt }) => ({
        ...{ transaction_id: transactionId, reference, round_id: roundId },
        asked_at: createdAt.toISOString(),
      }))
      return { data, next }
    }),
    handler(opsMovementsOfRound, async ({ roundId }) => {
      const now = clock.now()
      const found = await lists.ofRound(roundId, roundMovementsMax)
      return {
        data: found.map((document) => ({
          movement: toOperationsRecord(document, now),
          attempts: document.attempts.map(toAttemptRecord),
        })),
      }
    }),
    handler(opsPlayerMovements, async ({ scope, playerId, before }) => {
      const { items, next } = await listOfPlayer(context, scope, playerId, before)
      const data = items.map((document) => ({
        movement: toMovementRecord(document),
        attempts: document.attempts.map(toAttemptRecord),
      }))
      return { data, next }
    }),
    handler(opsListStakes, async ({ scope, from, to, after }) => {
      const window = { from: new Date(from), to: new Date(to) }
      const { ids, next } = await listStakes(context, scope, window, after)
      return { data: ids, next }
    }),
    handler(opsMovementFacts, async (about) => {
      const found =
        'roundId' in about
          ? await lists.ofRound(about.roundId, roundMovementsMax)
          : [await findByReference(context, about.reference)]
      return { data: found.map(toMovementFacts) }
    }),
    handler(opsMovementEvents, async ({ roundId }) => ({
      data: (await listEnds(context, roundId)).map(({ document, type, entry }) => ({
        ...{ event_id: entry.id, type, transaction_id: document.transactionId },
      })),
    })),
    handler(opsRepublishMovements, async ({ order, roundId, eventIds }) => ({
      event_ids: await republishEnds(context, roundId, eventIds, order.dryRun),
    })),
    handler(opsWalletStatus, async () => {
      const { all, oldest, over5m, over1h, over24h } = await pending.figures(clock.now())
      return {
        pending: all,
        oldest_pending_at: oldest?.createdAt.toISOString() ?? null,
        alarms: { over_5m: over5m, over_1h: over1h, over_24h: over24h },
        breakers_open: breakers.open(),
      }
    }),
  ]
}
