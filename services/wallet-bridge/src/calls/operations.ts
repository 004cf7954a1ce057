import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as calls from '@pitboss/contracts/calls/wallet-ops'
import * as movements from '../actions/operate-movements.ts'
import type { WalletContext } from '../context.ts'
import * as records from '../records/render-movement.ts'

/** The calls of the operations command. Source: docs/contract.md, section 10. */
export function operationsCalls(context: WalletContext): CallHandler[] {
  const { lists, breakers, clock } = context
  return [
    handler(calls.opsListMovements, (filters) => movements.listOverall(context, filters)),
    handler(calls.opsShowMovement, async ({ reference }) =>
      records.toOperationsCase(await movements.findByReference(context, reference), clock.now()),
    ),
    handler(calls.opsResolveMovement, async (asked, { requestId }) =>
      records.toOperationsRecord(await movements.resolveMovement(context, asked, requestId), clock.now()),
    ),
    handler(calls.opsHealMovements, async (asked, { requestId }) => ({
      data: await movements.healMovements(context, asked, requestId),
    })),
    handler(calls.opsStakesInDoubt, (asked) => movements.listInDoubt(context, asked)),
    handler(calls.opsMovementsOfRound, async ({ roundId }) => {
      const now = clock.now()
      const found = await lists.ofRound(roundId, calls.roundMovementsMax)
      return { data: found.map((document) => records.toOperationsCase(document, now)) }
    }),
    handler(calls.opsPlayerMovements, (asked) => movements.listOfPlayer(context, asked)),
    handler(calls.opsListStakes, (asked) => movements.listStakes(context, asked)),
    handler(calls.opsMovementFacts, async (about) => {
      const found =
        'roundId' in about
          ? await lists.ofRound(about.roundId, calls.roundMovementsMax)
          : [await movements.findByReference(context, about.reference)]
      return { data: found.map(records.toMovementFacts) }
    }),
    handler(calls.opsMovementEvents, async ({ roundId }) => ({
      data: (await movements.listEnds(context, roundId)).map(({ document, type, entry }) => ({
        ...{ event_id: entry.id, type, transaction_id: document.transactionId },
      })),
    })),
    handler(calls.opsRepublishMovements, async (asked) => ({
      event_ids: await movements.republishEnds(context, asked),
    })),
    handler(calls.opsWalletStatus, async () => {
      const { all, oldest, over5m, over1h, over24h } = await lists.figures(clock.now())
      return {
        pending: all,
        oldest_pending_at: oldest?.createdAt.toISOString() ?? null,
        alarms: { over_5m: over5m, over_1h: over1h, over_24h: over24h },
        breakers_open: breakers.open(),
      }
    }),
  ]
}
