import { handler } from '@pitboss/bus/serve-calls'
import { type ActedBy, orderedBy } from '@pitboss/contracts/audit'
import type { RequestOf } from '@pitboss/contracts/call'
import { type Caller, scopeKey } from '@pitboss/contracts/caller'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import { opsLiftReturnAlarm, opsListReturnAlarms, opsListReturns } from '@pitboss/contracts/calls/rounds'
import { dashboardListReturns } from '@pitboss/contracts/endpoints/rounds'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { startPoll } from '@pitboss/runtime/poll'
import { registerGauge } from '@pitboss/runtime/register-metrics'
import { answerPage, dataPage, type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { Registry } from 'prom-client'
import type { RoundsContext } from '../../context.ts'
import type { Wing } from '../../wing.ts'
import { presentAlarm, presentOpsReturn, presentReturn, returnAlarmId } from './records/present-return.ts'
import { installationScope } from './rules/watched-streams.ts'
import {
  type AlarmDocument,
  type AlarmRule,
  createReturnsFold,
  createReturnsStore,
  returnIndexes,
  type ReturnsStore,
  type StreamFilters,
} from './storage/returns-store.ts'

/** Alarms are raised when they are counted; a backstop looks for others. */
const lookEveryMs = 5000

/** The watch of returns to players. Source: docs/rtp-watch.md; docs/contract.md, sections 10 and 11. */
export const returns: Wing = {
  indexes: returnIndexes,
  audited: ['return_alarms'],
  open(core, { db, registry, returnsAlarm }) {
    const context: ReturnsContext = { ...core, returns: createReturnsStore({ db }), rule: returnsAlarm }
    registerAlarms(registry, context.returns)
    const look = { event: 'returns.failed', everyMs: lookEveryMs, logger: core.logger }
    return {
      calls: [
        handler(dashboardListReturns.call, async ({ caller, query }) =>
          answerPage(await listReturns(context, caller, query), presentReturn),
        ),
        handler(opsListReturns, (query) => listReturnsOf(context, query)),
        handler(opsListReturnAlarms, ({ after, limit }) =>
          dataPage((max) => context.returns.listAlarms({ after, max }), presentAlarm, { limit }),
        ),
        handler(opsLiftReturnAlarm, async (asked, { requestId }) => {
          const { alarm, broughtBack } = await liftAlarm(context, asked, requestId)
          return { alarm: presentAlarm(alarm), brought_back: broughtBack }
        }),
      ],
      fold: { fold: createReturnsFold({ ...core, db }), afterwards: () => raiseAlarms(context) },
      start: () => [startPoll({ ...look, work: () => raiseAlarms(context) })],
    }
  },
}

export function registerAlarms(registry: Registry, returns: Pick<ReturnsStore, 'countOpen'>): void {
  const help = 'Alarms of the watch of returns to players that nobody has lifted'
  registerGauge(registry, 'pitboss_return_alarms', help, returns.countOpen)
}

type Lift = RequestOf<typeof opsLiftReturnAlarm>

type ReturnsContext = Pick<RoundsContext, 'games' | 'cursors' | 'audit' | 'clock' | 'logger'> & {
  readonly returns: ReturnsStore
  readonly rule: AlarmRule
}

/** The author of what an alarm does by itself. */
const watch = 'return-watch'
const watchActor: ActedBy = {
  operator_id: null,
  actor: { kind: 'service', id: watch, name: watch },
  client_address: null,
  request_id: null,
  reason: null,
}

/** Acts on new alarms: stores evidence, takes the game down, logs. Idempotent. Source: docs/rtp-watch.md. */
async function raiseAlarms(context: ReturnsContext): Promise<void> {
  const { returns, clock, rule, logger } = context
  for (const stream of await returns.findDue()) {
    const alarm: AlarmDocument = {
      _id: returnAlarmId(stream),
      ...{ game: stream.game, open: true, stream, rule, raisedAt: clock.now() },
      ...{ liftedAt: null, liftedBy: null, liftReason: null },
    }
    await failpoint('rounds.return-alarm-found')
    await returns.keepAlarm(alarm)
    await failpoint('rounds.return-alarm-kept')
    if (rule === 'take-down') await takeDown(context, alarm)
    const { alarm_id, stream: shown, ...evidence } = presentAlarm(alarm)
    const { points: _points, ...where } = shown
    logger.error({ alarm_id, ...where, ...evidence }, 'returns.alarm')
    await failpoint('rounds.return-alarm-told')
    await returns.markTold(stream)
  }
}

async function takeDown(context: ReturnsContext, { _id, game, stream }: AlarmDocument): Promise<void> {
  const { games, clock } = context
  const reason = `alarm ${_id}: returns of ${game}, ${stream.shape}`
  const entry = gameSet(context, { ...watchActor, reason }, game, await games.status(game), 'DOWN')
  await games.takeDown(game, _id, { by: watch, reason }, clock.now(), entry)
}

/** Lifts an alarm: its stream restarts, and its game comes back unless something else took it down. */
async function liftAlarm(context: ReturnsContext, asked: Lift, requestId: string) {
  const { order, alarmId, keepDown } = asked
  const { returns, audit, clock } = context
  const found = await returns.findAlarm(alarmId)
  if (found === null) throw new ServiceError('NOT_FOUND')
  if (order.dryRun) return { alarm: found, broughtBack: false }
  const by = orderedBy(order, null, requestId)
  const now = clock.now()
  const entry = audit.entry(by, {
    act: 'return-alarm.lift',
    object: { type: 'return-alarm', id: alarmId },
    before: { status: 'OPEN' },
    after: { status: 'LIFTED' },
  })
  await returns.lift(alarmId, order, now, entry)
  await failpoint('rounds.return-alarm-lifted')
  await returns.restart(found.stream, now)
  await failpoint('rounds.return-stream-restarted')
  const broughtBack = !keepDown && (await bringBack(context, found.game, order, by))
  return { alarm: (await returns.findAlarm(alarmId)) ?? found, broughtBack }
}

async function bringBack(context: ReturnsContext, game: string, order: OpsOrder, by: ActedBy) {
  if (await context.returns.holdsDown(game)) return false
  const entry = gameSet(context, by, game, 'DOWN', 'AVAILABLE')
  return context.games.bringBack(game, watch, order, context.clock.now(), entry)
}

type Status = 'AVAILABLE' | 'DOWN'

function gameSet({ audit }: ReturnsContext, by: ActedBy, game: string, before: Status, after: Status) {
  const object = { type: 'game', id: game } as const
  return audit.entry(by, { act: 'game.set', object, before: { status: before }, after: { status: after } })
}

/** The bytes of a presented stream and of one of its points, roughly. */
const [bytesOfStream, bytesOfPoint] = [800, 200]

type ListQuery = PageQuery & StreamFilters

async function listReturns({ returns, cursors }: ReturnsContext, { scope }: Caller, query: ListQuery) {
  const filters = { game: query.game, currency: query.currency }
  return readPage({
    cursors,
    binding: { list: 'returns', scope, filters },
    query,
    read: (after, max) => returns.list(scopeKey(scope), filters, { after, max }),
    positionOf: ({ _id }) => _id,
    bytesOf: ({ points }) => bytesOfStream + points.length * bytesOfPoint,
  })
}

/** Lists streams of an account, or without one those of the whole installation, for operations. */
async function listReturnsOf({ returns }: ReturnsContext, query: RequestOf<typeof opsListReturns>) {
  const { operatorId, environment, game, after, limit } = query
  const scope =
    operatorId === undefined ? installationScope(environment) : scopeKey({ operatorId, environment })
  return dataPage((max) => returns.list(scope, { game }, { after, max }), presentOpsReturn, { limit })
}
