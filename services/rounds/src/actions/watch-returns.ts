import { type ActedBy, orderedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { type Page, type PageQuery, readPage } from '@pitboss/storage/read-page'
import { z } from 'zod'
import { presentAlarm, returnAlarmId } from '../records/present-return.ts'
import { installationScope } from '../rules/watched-streams.ts'
import type { AlarmDocument, StreamDocument } from '../storage/return-document.ts'
import type { ReturnsStore, StreamFilters } from '../storage/returns-store.ts'
import { scopeKey } from '../storage/round-document.ts'
import type { Parts } from './parts.ts'

/** What an alarm does: take its game down for new rounds everywhere, or tell operations alone. */
export type AlarmRule = 'take-down' | 'tell'
type Order = { readonly by: string; readonly reason: string | null; readonly dryRun: boolean }

/** The author of what an alarm does by itself. */
const watch = 'return-watch'
const watchActor: ActedBy = {
  operator_id: null,
  actor: { kind: 'service', id: watch, name: watch },
  client_address: null,
  request_id: null,
  reason: null,
}

export type WatchReturns = ReturnType<typeof createWatchReturns>

/**
 * Creates the reads of the watch of returns and what follows from an alarm. The fold stores an alarm in the
 * write that finds it; `raise` keeps its evidence, takes the game down and says so, and does each again after
 * a crash. Source: docs/rtp-watch.md.
 */
export function createWatchReturns({
  returns,
  games,
  cursors,
  audit,
  clock,
  logger,
  rule,
}: Pick<Parts, 'games' | 'cursors' | 'audit' | 'clock' | 'logger'> & {
  returns: ReturnsStore
  rule: AlarmRule
}) {
  return { list, listOf, listAlarms, raise, lift }

  /** The streams of the caller's account. */
  async function list({ scope }: Caller, query: PageQuery & StreamFilters): Promise<Page<StreamDocument>> {
    const filters = { game: query.game, currency: query.currency }
    return readPage({
      cursors,
      binding: { list: 'returns', scope, filters },
      query,
      position: z.string().max(400),
      read: (after, max) => returns.list(scope, filters, { after, max }),
      positionOf: ({ _id }) => _id,
      bytesOf: ({ points }) => bytesOfStream + points.length * bytesOfPoint,
    })
  }

  /** Streams of an account, or of the whole installation. For operations. */
  async function listOf(
    {
      operatorId,
      environment,
      game,
    }: {
      operatorId?: string | undefined
      environment: 'SANDBOX' | 'LIVE'
      game?: string | undefined
    },
    page: OpsPage,
  ) {
    const scope =
      operatorId === undefined ? installationScope(environment) : scopeKey({ operatorId, environment })
    return withNext(page, await returns.listOf(scope, { game }, { after: page.after, max: page.max + 1 }))
  }

  /** Alarms of every account, lifted ones too. For operations. */
  async function listAlarms(page: OpsPage) {
    return withNext(page, await returns.listAlarms({ after: page.after, max: page.max + 1 }))
  }

  /** Tells of each new alarm and acts on it. Called by a worker; doing it twice changes nothing. */
  async function raise(): Promise<void> {
    for (const stream of await returns.findDue()) {
      const alarm: AlarmDocument = {
        _id: returnAlarmId(stream),
        ...{ game: stream.game, open: true, stream, rule, raisedAt: clock.now() },
        ...{ liftedAt: null, liftedBy: null, liftReason: null },
      }
      await failpoint('rounds.return-alarm-found')
      await returns.keepAlarm(alarm)
      await failpoint('rounds.return-alarm-kept')
      if (rule === 'take-down') await takeDown(alarm)
      const { alarm_id, stream: shown, ...evidence } = presentAlarm(alarm)
      const { points: _points, ...where } = shown
      logger.error({ alarm_id, ...where, ...evidence }, 'returns.alarm')
      await failpoint('rounds.return-alarm-told')
      await returns.markTold(stream)
    }
  }

  async function takeDown({ _id, game, stream }: AlarmDocument): Promise<void> {
    const reason = `alarm ${_id}: returns of ${game}, ${stream.shape}`
    const entry = audit.entry(
      { ...watchActor, reason },
      {
        act: 'game.set',
        object: { type: 'game', id: game },
        before: { status: await games.status(game) },
        after: { status: 'DOWN' },
      },
    )
    await games.takeDown(game, _id, { by: watch, reason }, clock.now(), entry)
  }

  /**
   * Lifts an alarm: its stream begins anew, and the game that the watch took down comes back unless another
   * open alarm, or somebody else, keeps it down. Repeating it finishes what a crash left.
   * @param keepDown leaves the game as it is
   * @throws ServiceError NOT_FOUND
   */
  async function lift(
    order: Order,
    alarmId: string,
    keepDown: boolean,
    requestId: string,
  ): Promise<{ alarm: AlarmDocument; broughtBack: boolean }> {
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
    const broughtBack = !keepDown && (await bringBack(found.game, order, by))
    return { alarm: (await returns.findAlarm(alarmId)) ?? found, broughtBack }
  }

  async function bringBack(game: string, order: Order, by: ActedBy): Promise<boolean> {
    if (await returns.holdsDown(game)) return false
    const entry = audit.entry(by, {
      act: 'game.set',
      object: { type: 'game', id: game },
      before: { status: 'DOWN' },
      after: { status: 'AVAILABLE' },
    })
    return games.bringBack(game, watch, order, clock.now(), entry)
  }
}

type OpsPage = { readonly after: string | null; readonly max: number }

function withNext<Item extends { _id: string }>({ max }: OpsPage, found: readonly Item[]) {
  const items = found.slice(0, max)
  return { items, next: found.length > max ? (items.at(-1)?._id ?? null) : null }
}

/** The bytes of a presented stream and of one of its points, roughly. */
const [bytesOfStream, bytesOfPoint] = [800, 200]
