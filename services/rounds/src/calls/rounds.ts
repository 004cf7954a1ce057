import { type CallHandler, handler, type HandlerContext } from '@pitboss/bus/serve-calls'
import { opsRoundsStatus, opsShowRound } from '@pitboss/contracts/calls/rounds'
import { type Caller, lookupScopes } from '@pitboss/contracts/caller'
import {
  dashboardGetRound,
  dashboardListRounds,
  getRound,
  listRounds,
  voidRound,
} from '@pitboss/contracts/endpoints/rounds'
import { operatorHandleOf } from '@pitboss/contracts/operator-handle'
import { roundId as roundIdSchema } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { RoundActor } from '../actions/round-actor.ts'
import { graceMs } from '../rules/due-at.ts'
import type { RoundState } from '../rules/round.ts'
import { presentRound, roundBytes } from '../records/present-round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import { readPage, readWindow } from './page.ts'

type RoundsDeps = { rounds: RoundsStore; actor: RoundActor; cursors: CursorCodec; clock: Clock }

const claimTriesMax = 10

type ListQuery = {
  player_id?: string | undefined
  session_id?: string | undefined
  game?: string | undefined
  status?: RoundState['status'] | undefined
  currency?: string | undefined
  from?: string | undefined
  to?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** Rounds as operators and operations see them. Contract sections 4, 10 and 11. */
export function createRoundHandlers({ rounds, actor, cursors, clock }: RoundsDeps): CallHandler[] {
  async function find(caller: Caller, roundId: string): Promise<StoredRound> {
    for (const scope of lookupScopes(caller)) {
      const stored = await rounds.find(scope, roundId)
      if (stored !== null) return stored
    }
    throw new ServiceError('ROUND_NOT_FOUND')
  }

  async function list({ scope }: Caller, { limit, cursor, ...filters }: ListQuery) {
    const { player_id: playerId, session_id: sessionId, game, status, currency } = filters
    const { items, nextCursor } = await readPage({
      cursors,
      binding: { list: 'rounds', scope, filters },
      query: { limit, cursor },
      position: roundIdSchema,
      read: (before, max) =>
        rounds.list(
          scope,
          { playerId, sessionId, game, status, currency, ...readWindow(filters) },
          { before, max },
        ),
      positionOf: ({ id }) => id,
      bytesOf: roundBytes,
    })
    return { status: 200, body: { data: items.map(presentRound), next_cursor: nextCursor } }
  }

  /** Claims the round, so that whoever asked for its stake does not take the intent back beside this. */
  async function claimPending(caller: Caller, roundId: string): Promise<StoredRound> {
    for (let tries = 1; tries <= claimTriesMax; tries++) {
      const stored = await find(caller, roundId)
      if (stored.round.status !== 'PENDING') throw notPending(stored.round)
      const claimed = await rounds.claim(stored, new Date(clock.now().getTime() + graceMs))
      if (claimed !== null) return claimed
    }
    throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
  }

  /**
   * For a round whose stake was never taken for certain. 200 once the wallet has acknowledged the rollback, 202 while it is owed. A stake that
   * turns out to be taken, or refused, decides the round instead. Contract section 4.
   */
  async function voidOne(caller: Caller, roundId: string, context: HandlerContext) {
    const stored = await claimPending(caller, roundId)
    const [stake] = stored.round.stakes
    const asked = stake?.state === 'ASKED' ? stake : null
    const tried =
      asked === null
        ? await actor.settle(stored, { recover: false, context })
        : await actor.voidStake(stored, asked.transactionId, context)
    const { round } = tried
    if (round.status === 'VOIDED') return { status: 200, body: presentRound(round) }
    if (round.status === 'PENDING') return { status: 202, body: presentRound(round) }
    await actor.settle(tried, { recover: false, context })
    throw notPending(round)
  }

  return [
    handler(listRounds.call, ({ caller, query }) => list(caller, query)),
    handler(dashboardListRounds.call, ({ caller, query: { environment: _environment, ...query } }) =>
      list(caller, query),
    ),
    handler(getRound.call, async ({ caller, params }) => ({
      status: 200,
      body: presentRound((await find(caller, params.round_id)).round),
    })),
    handler(dashboardGetRound.call, async ({ caller, params }) => ({
      status: 200,
      body: presentRound((await find(caller, params.round_id)).round),
    })),
    handler(voidRound.call, ({ caller, params }, context) => voidOne(caller, params.round_id, context)),
    handler(opsShowRound, async ({ roundId }) => {
      const stored = await rounds.findAnywhere(roundId)
      if (stored === null) throw new ServiceError('ROUND_NOT_FOUND')
      const { round } = stored
      return {
        operator_id: operatorHandleOf(round.operatorId),
        round: presentRound(round),
        history: round.history.map(({ at, what }) => ({ at: at.toISOString(), what })),
      }
    }),
    handler(opsRoundsStatus, async () => {
      const { count, oldestAt } = await rounds.unfinished()
      return { unfinished: count, oldest_unfinished_at: oldestAt?.toISOString() ?? null }
    }),
  ]
}

function notPending({ status }: RoundState): ServiceError {
  const plays = status === 'OPEN' || status === 'SETTLING'
  return new ServiceError(plays ? 'ROUND_IN_PROGRESS' : 'ROUND_ALREADY_SETTLED')
}
