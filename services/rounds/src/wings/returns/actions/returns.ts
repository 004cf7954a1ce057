import { type ActedBy, orderedBy } from '@pitboss/contracts/audit'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { opsLiftReturnAlarm, opsListReturnAlarms, opsListReturns } from '@pitboss/contracts/calls/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import { type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { dataPage } from '../../../actions/read-rounds.ts'
import type { RoundsContext } from '../../../context.ts'
import { scopeKey } from '../../../storage/round-document.ts'
import { presentAlarm, presentOpsReturn, returnAlarmId } from '../records/present-return.ts'
import { installationScope } from '../rules/watched-streams.ts'
import type { AlarmDocument, AlarmRule } from '../storage/returns-fold.ts'
import type { ReturnsStore, StreamFilters } from '../storage/returns-store.ts'

type StreamsQuery = z.output<typeof opsListReturns.request>
type Lift = z.output<typeof opsLiftReturnAlarm.request>
type AlarmsQuery = z.output<typeof opsListReturnAlarms.request>
export type ReturnsContext = Pick<RoundsContext, 'games' | 'cursors' | 'audit' | 'clock' | 'logger'> & {
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
export async function raiseAlarms(context: ReturnsContext): Promise<void> {
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

/**
 * Lifts an alarm: its stream restarts, and the game comes back unless another alarm or person took it down.
 * Idempotent. @param keepDown leaves the game as it is. @throws ServiceError NOT_FOUND
 */
export async function liftAlarm(context: ReturnsContext, asked: Lift, requestId: string) {
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

export async function listReturns({ returns, cursors }: ReturnsContext, { scope }: Caller, query: ListQuery) {
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
export async function listReturnsOf({ returns }: ReturnsContext, query: StreamsQuery) {
  const { operatorId, environment, game, after, limit } = query
  const scope =
    operatorId === undefined ? installationScope(environment) : scopeKey({ operatorId, environment })
  return dataPage((max) => returns.list(scope, { game }, { after, max }), presentOpsReturn, { limit })
}

export async function listReturnAlarms({ returns }: ReturnsContext, { after, limit }: AlarmsQuery) {
  return dataPage((max) => returns.listAlarms({ after, max }), presentAlarm, { limit })
}
