import { profileOf } from '@pitboss/contracts/jurisdictions'
import { startPoll } from '@pitboss/runtime/poll'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { dataPage } from '../../actions/read-rounds.ts'
import type { Hooks } from '../../context.ts'
import type { Wing } from '../../wing.ts'
import { afterSession, beforeSession, settleStops, signStops } from './actions/settle-stops.ts'
import { enforceLimits } from './actions/enforce-player-limits.ts'
import { enforceStartInterval } from './actions/enforce-start-interval.ts'
import { showLimits } from './actions/set-limits.ts'
import { protectionCalls } from './calls/protection.ts'
import type { ProtectionContext } from './context.ts'
import { presentProtection, presentStop } from './records/present-protection.ts'
import { createPacesStore, paceIndexes, createSpendsStore } from './storage/paces-store.ts'
import { createPlayerLimitsStore, playerLimitIndexes } from './storage/player-limits-store.ts'
import { createStopsStore, stopIndexes } from './storage/stops-store.ts'

/** While a stop waits for rounds to end or for its signature. */
const lookEveryMs = 500
/** Else: a stop ends rounds itself, and what has ended them wakes who signs. */
const [settleIdleMs, signIdleMs] = [2500, 10_000]

/** What protects players: limits, stops, reality checks and the pace of games. */
export const protection: Wing = {
  indexes: { paces: paceIndexes, player_stops: stopIndexes, player_limits: playerLimitIndexes },
  audited: ['player_stops', 'player_limits'],
  open(core, { db, clockAheadMs }) {
    const context: ProtectionContext = {
      ...core,
      stops: createStopsStore({ db }),
      playerLimits: createPlayerLimitsStore({ db }),
      spends: createSpendsStore({ db }),
      paces: createPacesStore({ db }),
    }
    const settle = whileClockAgrees(clockAheadMs, (stopping: AbortSignal) => settleStops(context, stopping))
    const poll = (
      event: string,
      look: (stopping: AbortSignal) => Promise<number | undefined>,
      idleMs: number,
    ) => ({
      ...{ event, everyMs: lookEveryMs, logger: core.logger },
      work: async (stopping: AbortSignal) => ((await look(stopping)) === 0 ? idleMs : lookEveryMs),
    })
    const start = () => {
      // While auth is away they wait.
      const sign = (stopping: AbortSignal) => signStops(context, stopping)
      const signing = startPoll({ ...poll('stop-records.not-signed', sign, signIdleMs), level: 'warn' })
      const settleAndWake = async (stopping: AbortSignal) => {
        const due = await settle(stopping)
        if (due !== 0) signing.wake()
        return due
      }
      return [startPoll(poll('stops.failed', settleAndWake, settleIdleMs)), signing]
    }
    return {
      calls: protectionCalls(context),
      hooks: protectionHooks(context),
      start,
    }
  },
}

export function protectionHooks(context: ProtectionContext): Omit<Hooks, 'folds'> {
  return {
    enforceLimits: (scope, session) => enforceLimits(context, scope, session),
    enforceStartInterval: (scope, session, startedBy) =>
      enforceStartInterval(context, scope, session, startedBy),
    beforeSession: (scope, playerId) => beforeSession(context, scope, playerId),
    afterSession: (session, isNew) => afterSession(context, session, isNew),
    async sessionFields(session, now) {
      if (!profileOf(session).showsSpend) return {}
      const { operatorId, environment } = session
      const spend = await context.spends.of({ operatorId, environment }, session._id)
      return { protection: presentProtection(session, spend, now) }
    },
    playerData: {
      async stop(scope, playerId, before) {
        const now = context.clock.now()
        return dataPage({
          read: (max) => context.stops.list(scope, playerId, { before, max }),
          positionOf: ({ _id }) => _id,
          present: (one) => presentStop(one, now),
        })
      },
      async limits(scope, playerId) {
        const record = await showLimits(context, scope, playerId)
        return { data: record.changes.length === 0 ? [] : [record], next: null }
      },
    },
  }
}
