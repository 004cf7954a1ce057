import { answer, type CallHandler, handler, handlers } from '@pitboss/bus/serve-calls'
import { actedBy, personActing } from '@pitboss/contracts/audit'
import { scopeOf } from '@pitboss/contracts/caller'
import { answerRealityCheck as realityCheck } from '@pitboss/contracts/endpoints/play'
import * as api from '@pitboss/contracts/endpoints/players'
import { profileOf } from '@pitboss/contracts/jurisdictions'
import { commonPauseMs, startPoll } from '@pitboss/runtime/poll'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { answerPage, dataPage } from '@pitboss/storage/read-page'
import type { Hooks } from '../../context.ts'
import { presentSession } from '../../records/present-session.ts'
import type { Wing } from '../../wing.ts'
import { answerRealityCheck, enforceStartInterval } from './actions/enforce-start-interval.ts'
import {
  assertWithinLimits,
  chargeStake,
  type ProtectionContext,
  setLimits,
  showLimits,
} from './actions/player-limits.ts'
import {
  afterSession,
  beforeSession,
  liftStop,
  listStops,
  settleStops,
  signStops,
  stopPlayer,
} from './actions/player-stops.ts'
import { presentProtection, presentStop } from './records/present-protection.ts'
import { createPacesStore, createSpendsStore, paceIndexes } from './storage/paces-store.ts'
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
    const poll = (event: string, idleMs: number, look: (stopping: AbortSignal) => Promise<unknown>) => ({
      ...{ event, everyMs: lookEveryMs, logger: core.logger },
      work: async (stopping: AbortSignal) =>
        (await look(stopping)) === 0 ? commonPauseMs(idleMs) : lookEveryMs,
    })
    const start = () => {
      // While auth is away they wait.
      const sign = (stopping: AbortSignal) => signStops(context, stopping)
      const signing = startPoll({ ...poll('stop-records.not-signed', signIdleMs, sign), level: 'warn' })
      const settleAndWake = async (stopping: AbortSignal) => {
        const due = await settle(stopping)
        if (due !== 0) signing.wake()
        return due
      }
      return [startPoll(poll('stops.failed', settleIdleMs, settleAndWake)), signing]
    }
    return { calls: protectionCalls(context), hooks: protectionHooks(context), start }
  },
}

export function protectionHooks(context: ProtectionContext): Omit<Hooks, 'folds'> {
  return {
    assertWithinLimits: assertWithinLimits.bind(null, context),
    chargeStake: chargeStake.bind(null, context),
    enforceStartInterval: enforceStartInterval.bind(null, context),
    beforeSession: beforeSession.bind(null, context),
    afterSession: afterSession.bind(null, context),
    async sessionFields(session, now) {
      if (!profileOf(session).showsSpend) return {}
      const spend = await context.spends.of(scopeOf(session), session._id)
      return { protection: presentProtection(session, spend, now) }
    },
    playerData: {
      async stop(scope, playerId, before) {
        const now = context.clock.now()
        const read = (max: number) => context.stops.list(scope, playerId, { before, max })
        return dataPage(read, (one) => presentStop(one, now))
      },
      async limits(scope, playerId) {
        const record = await showLimits(context, scope, playerId)
        return { data: record.changes.length === 0 ? [] : [record], next: null }
      },
    },
  }
}

/** Calls about limits, stops and reality checks. Source: docs/contract.md, section 4. */
export function protectionCalls(context: ProtectionContext): CallHandler[] {
  const present = (stop: Parameters<typeof presentStop>[0]) => presentStop(stop, context.clock.now())
  return [
    ...handlers([api.putLimits.call, api.dashboardPutLimits.call], async (asked, call) =>
      answer(await setLimits(context, asked, actedBy(asked.caller, call))),
    ),
    ...handlers([api.getLimits.call, api.dashboardGetLimits.call], async ({ caller, params }) =>
      answer(await showLimits(context, caller.scope, params.player_id)),
    ),
    ...handlers([api.stopPlayer.call, api.dashboardStopPlayer.call], async (asked, call) =>
      answer(present(await stopPlayer(context, asked, personActing(asked.caller, call)))),
    ),
    ...handlers([api.liftStop.call, api.dashboardLiftStop.call], async (asked, call) =>
      answer(present(await liftStop(context, asked, personActing(asked.caller, call)))),
    ),
    ...handlers([api.listStops.call, api.dashboardListStops.call], async (asked) =>
      answerPage(await listStops(context, asked), present),
    ),
    handler(realityCheck.call, async (asked) => {
      const now = context.clock.now()
      return answer(presentSession(await answerRealityCheck(context, asked, now), now))
    }),
  ]
}
