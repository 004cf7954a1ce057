import { acknowledgedSequence } from '@pitboss/bus/consume-durable'
import type { Bus } from '@pitboss/bus/connect-bus'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { roundsMovements } from '@pitboss/bus/topology'
import { orderedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import {
  countUnfinishedRounds,
  opsCertainMovements,
  opsEndRoundAsTold,
  opsHealOrphan,
  opsOrphanedStakes,
  opsRepublishRound,
  opsResolveOwed,
  movementsRewind,
  showStakeStanding,
  opsRoundsBetween,
  opsRoundsStatus,
  opsShowRound,
  opsSkipNonces,
  opsUnendedRounds,
} from '@pitboss/contracts/calls/rounds'
import {
  dashboardGetRound,
  dashboardListRounds,
  getRound,
  listRounds,
  placeTransaction as endpoint,
  voidRound as voidRoundEndpoint,
} from '@pitboss/contracts/endpoints/rounds'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { RewindStore } from '@pitboss/storage/rewind-store'
import { answerPage } from '@pitboss/storage/read-page'
import type { EndAsTold } from '../actions/end-as-told.ts'
import type { HealOrphans } from '../actions/heal-orphans.ts'
import type { PlaceTransaction } from '../actions/place-transaction.ts'
import type { ReadRounds } from '../actions/read-rounds.ts'
import type { ResolveOwed } from '../actions/resolve-owed.ts'
import type { TellEndAgain } from '../actions/tell-end-again.ts'
import type { VoidRound } from '../actions/void-round.ts'
import { endEvent, presentRound } from '../records/present-round.ts'

type RoundsDeps = { rounds: ReadRounds; voidRound: VoidRound }

/**
 * Calls of operators, wallet-bridge and operations about rounds. Source: docs/contract.md, sections 4, 6, 10
 * and 11.
 */
export function createRoundHandlers({ rounds, voidRound }: RoundsDeps): CallHandler[] {
  async function list(caller: Caller, query: Parameters<ReadRounds['list']>[1]) {
    return answerPage(await rounds.list(caller, query), presentRound)
  }

  async function show(caller: Caller, roundId: string) {
    const { round } = await rounds.find(caller, roundId)
    return { status: 200, body: presentRound(round) }
  }

  return [
    handler(listRounds.call, ({ caller, query }) => list(caller, query)),
    handler(dashboardListRounds.call, ({ caller, query: { environment: _environment, ...query } }) =>
      list(caller, query),
    ),
    handler(getRound.call, ({ caller, params }) => show(caller, params.round_id)),
    handler(dashboardGetRound.call, ({ caller, params }) => show(caller, params.round_id)),
    handler(voidRoundEndpoint.call, async ({ caller, params }, context) => {
      const round = await voidRound(caller, params.round_id, context)
      return { status: round.status === 'VOIDED' ? 200 : 202, body: presentRound(round) }
    }),
    handler(countUnfinishedRounds, async ({ scope }) => ({ count: await rounds.countUnfinished(scope) })),
    handler(showStakeStanding, async ({ scope, roundId, transactionId }) => ({
      standing: await rounds.stakeStanding(scope, roundId, transactionId),
    })),
    handler(opsShowRound, async ({ roundId }) => {
      const round = await rounds.findAnywhere(roundId)
      return {
        operator_id: operatorHandleOf(round.operatorId),
        round: presentRound(round),
        history: round.history.map(({ at, what }) => ({ at: at.toISOString(), what })),
      }
    }),
    handler(opsRoundsBetween, async ({ from, to, after, limit }) => {
      const found = await rounds.between({ from: new Date(from), to: new Date(to) }, after, limit)
      return {
        data: found.map((round) => ({
          round_id: round.id,
          operator_id: operatorHandleOf(round.operatorId),
          event_id: endEvent(round)?.id ?? null,
        })),
      }
    }),
    handler(opsRoundsStatus, async () => {
      const { count, oldestAt } = await rounds.unfinished()
      return { unfinished: count, oldest_unfinished_at: oldestAt?.toISOString() ?? null }
    }),
  ]
}

/** The route that writes movements; wallet-bridge answers their reads. */
export function createTransactionHandlers({
  placeTransaction,
}: {
  placeTransaction: PlaceTransaction
}): CallHandler[] {
  return [handler(endpoint.call, ({ caller, body }, context) => placeTransaction(caller, body, context))]
}

const { stream, config } = roundsMovements

/** Calls of operations that rewind the consumer of movements. Source: docs/contract.md, section 10. */
export function createRewindHandlers({
  rewinds,
  bus,
  audit,
}: {
  rewinds: RewindStore
  bus: Bus
  audit: Pick<AuditOutbox, 'entry'>
}): CallHandler[] {
  return [
    handler(movementsRewind.start, (request, { requestId }) =>
      rewinds.start(request, (after) =>
        audit.entry(orderedBy(request.order, null, requestId), {
          act: 'consumer.rewind',
          object: { type: 'consumer', id: config.durable_name ?? '' },
          before: null,
          after,
        }),
      ),
    ),
    handler(movementsRewind.show, async ({ rewindId }) =>
      rewinds.progress(rewindId, await acknowledgedSequence(bus, stream, config.durable_name ?? '')),
    ),
  ]
}

/** The call of operations that tells the end of a round once more. Source: docs/runbook.md. */
export function createRepublishHandlers({ tellEndAgain }: { tellEndAgain: TellEndAgain }): CallHandler[] {
  return [
    handler(opsRepublishRound, async ({ order, roundId }) => ({
      event_id: await tellEndAgain(roundId, order.dryRun),
    })),
  ]
}

/**
 * Calls of operations after a database was restored: stakes without a round, rounds that are open again, and
 * movements that wallet-bridge refuses for good. Source: docs/runbook.md.
 */
export function createRestoreHandlers({
  orphans,
  rounds,
  endAsTold,
  resolveOwed,
}: {
  orphans: HealOrphans
  rounds: Pick<ReadRounds, 'unended' | 'certain'>
  endAsTold: EndAsTold
  resolveOwed: ResolveOwed
}): CallHandler[] {
  return [
    handler(opsUnendedRounds, async ({ scope, status, after }) => {
      const { found, next } = await rounds.unended(scope, status, after)
      return {
        data: found.map(({ id, playerId, game }) => ({ round_id: id, player_id: playerId, game })),
        next,
      }
    }),
    handler(opsSkipNonces, async ({ order, scope, rounds: started }, { requestId }) => ({
      data: await orphans.skipNonces({ scope, started, order }, requestId),
    })),
    handler(opsEndRoundAsTold, async (told, { requestId }) => ({
      round_id: told.roundId,
      status: await endAsTold(told, requestId),
    })),
    handler(opsCertainMovements, ({ scope, from, after }) => rounds.certain(scope, new Date(from), after)),
    handler(opsResolveOwed, async (asked, { requestId }) => ({
      round_id: asked.roundId,
      status: await resolveOwed(asked, requestId),
    })),
    handler(opsOrphanedStakes, async ({ scope, transactionIds }) => ({
      data: (await orphans.list(scope, transactionIds)).map(({ movement, stands }) => {
        const { transaction_id, round_id, player_id, game, amount, currency, created_at } = movement
        return { transaction_id, round_id, player_id, game, amount, currency, created_at, stands }
      }),
    })),
    handler(opsHealOrphan, async (heal, { requestId }) => ({
      transaction_id: heal.transactionId,
      refund: await orphans.heal(heal, requestId),
    })),
  ]
}
