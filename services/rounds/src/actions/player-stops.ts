import type { ActedBy } from '@pitboss/contracts/audit'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import type { listStops, stopPlayer } from '@pitboss/contracts/endpoints/players'
import { stopId as stopIdSchema } from '@pitboss/contracts/primitives'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { type Page, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { presentStop } from '../records/present-stop.ts'
import { graceMs, sittingAbandonedAt } from '../rules/due-at.ts'
import type { RoundState } from '../rules/round.ts'
import { isEndedByStop, type LastBet, neverEnds, nextLookAt, stopStatusAt } from '../rules/stop.ts'
import { scopeKey, sequenceKey } from '../storage/round-document.ts'
import type { StopDocument, StopsStore } from '../storage/stops-store.ts'
import type { Parts } from './parts.ts'

type StopBody = z.output<typeof stopPlayer.call.request>['body']
type ListQuery = Omit<z.output<typeof listStops.query>, 'environment'>

/** Rounds that are read at once for the last bet; refused stakes leave rounds that have not started. */
const roundsAtOnce = 100

export type PlayerStops = ReturnType<typeof createPlayerStops>

/**
 * Creates the stops of players. A stop is stored first; then it closes the player's sessions, which is what
 * refuses new stakes, and hands the open rounds to the sweeper, which ends them as abandoned ones are: to the
 * player's advantage. `settle` repeats that for what was under way, and after a crash.
 * Source: docs/contract.md, section 4, "Stops".
 */
export function createPlayerStops({
  stops,
  sessions,
  rounds,
  catalogue,
  audit,
  cursors,
  clock,
  newId,
  scaleMs,
}: Pick<Parts, 'sessions' | 'rounds' | 'catalogue' | 'audit' | 'cursors' | 'clock' | 'newId' | 'scaleMs'> & {
  stops: StopsStore
}) {
  return { stop, lift, list, inForce, settle }

  /** The stop that refuses new play of the player now; null for none. */
  async function inForce(scope: Scope, playerId: string): Promise<StopDocument | null> {
    const current = await stops.current(scope, playerId)
    return current !== null && stopStatusAt(current, clock.now()) === 'IN_FORCE' ? current : null
  }

  /**
   * Stops a player. A repeat answers the stop that is in force; one with a later end moves its end.
   * @param by the person whose act is audited; null for an operator's server
   * @throws ServiceError VALIDATION_ERROR at `until`; CONFLICT when the stop in force ends later
   */
  async function stop(
    { scope }: Caller,
    playerId: string,
    { reason, until: untilText }: StopBody,
    by: ActedBy | null,
  ): Promise<StopDocument> {
    const now = clock.now()
    const until = untilText === undefined ? null : new Date(untilText)
    if (until !== null && until <= now) throw invalidField('until', 'must lie in the future')
    const wanted = { reason, until, endsAt: until ?? neverEnds }
    const stopped = (await begin()) ?? (await extend())
    if (stopped === null) {
      throw new ServiceError('CONFLICT', {
        message: 'A stop that ends later is in force. Lift it first to let the player play earlier.',
      })
    }
    await failpoint('rounds.stop-stored')
    await enforce(stopped)
    return stopped

    async function begin(): Promise<StopDocument | null> {
      const document: StopDocument = {
        ...wanted,
        _id: newId('stp'),
        scope: scopeKey(scope),
        operatorId: scope.operatorId,
        environment: scope.environment,
        playerId,
        from: now,
        liftedAt: null,
        liftReason: null,
        roundsEndedAt: null,
        lastBet: null,
        inForce: true,
        unsigned: true,
        dueAt: now,
      }
      return (await stops.begin(document, entryOf('player.stop', by, null, document))) ? document : null
    }

    async function extend(): Promise<StopDocument | null> {
      const current = await stops.current(scope, playerId)
      if (current === null) return null
      const isSame = current.reason === reason && current.endsAt.getTime() === wanted.endsAt.getTime()
      if (isSame) return current
      const entry = entryOf('player.stop', by, current, { ...current, ...wanted })
      return stops.extend(scope, current._id, wanted, now, entry)
    }
  }

  /**
   * Lifts the stop that is in force. Repeating it answers the stop that was lifted.
   * @param by as of `stop`
   * @throws ServiceError CONFLICT when the player has no stop
   */
  async function lift(
    { scope }: Caller,
    playerId: string,
    reason: string,
    by: ActedBy | null,
  ): Promise<StopDocument> {
    const now = clock.now()
    const current = await stops.current(scope, playerId)
    const after = current === null ? null : { ...current, liftedAt: now, liftReason: reason }
    const entry = after === null ? null : entryOf('player.lift-stop', by, current, after)
    const [last] = await stops.list(scope, playerId, { before: null, max: 1 })
    const lifted = (await stops.lift(scope, playerId, now, reason, entry)) ?? last ?? null
    if (lifted === null || lifted.liftedAt === null) {
      throw new ServiceError('CONFLICT', { message: 'No stop of this player is in force.' })
    }
    // After a crash between the two writes, a repeat makes the second one.
    await sessions.forgetStop(scope, playerId, lifted._id)
    return lifted
  }

  /** The stops of a player, newest first. */
  async function list({ scope }: Caller, playerId: string, query: ListQuery): Promise<Page<StopDocument>> {
    return readPage({
      cursors,
      binding: { list: 'player-stops', scope, filters: { playerId } },
      query,
      position: stopIdSchema,
      read: (before, max) => stops.list(scope, playerId, { before, max }),
      positionOf: ({ _id }) => _id,
    })
  }

  /**
   * Looks at the rounds of the stops that are due, and keeps the last bet of those whose rounds have all
   * ended. Called by a worker of each replica; doing it twice changes nothing.
   * @returns how many stops were due
   */
  async function settle(stopping: AbortSignal): Promise<number> {
    const due = await stops.findDue(clock.now())
    for (const stopped of due) {
      if (stopping.aborted) break
      const left = await enforce(stopped)
      const now = clock.now()
      const next = nextLookAt(stopped, left, now)
      if (next !== null) await stops.postpone(stopped._id, next)
      else await stops.settle(stopped._id, now, await lastBetOf(stopped))
    }
    return due.length
  }

  /**
   * Closes the player's sessions, unless the stop is over, and lets the open rounds be ended now. True while
   * a round is left.
   */
  async function enforce(stopped: StopDocument): Promise<boolean> {
    const { operatorId, environment, playerId, endsAt } = stopped
    const scope = { operatorId, environment }
    const now = clock.now()
    const current = await inForce(scope, playerId)
    if (current?._id === stopped._id) {
      await sessions.stopAll(scope, playerId, { id: stopped._id, endsAt }, now)
    }
    let left = false
    for (const { game } of catalogue.entries) {
      const sequence = sequenceKey(scope, game.slug, playerId)
      const round = (await rounds.findUnfinished(sequence))?.round ?? null
      // A round of after the stop is none of its business.
      if (round === null || !isEndedByStop(round) || (current === null && round.createdAt > endOf(stopped)))
        continue
      left = true
      // The request of a round that is not open yet may still be at work on it.
      const due = round.status === 'OPEN' ? now : new Date(now.getTime() + graceMs)
      await rounds.endSession(sequence, round.sessionId, sittingAbandonedAt(now, scaleMs), due)
    }
    return left
  }

  async function lastBetOf({ operatorId, environment, playerId, ...stopped }: StopDocument) {
    const scope = { operatorId, environment }
    for (let before: string | null = null; ; ) {
      const filters = { playerId, to: endOf(stopped) }
      const page: RoundState[] = await rounds.list(scope, filters, { before, max: roundsAtOnce })
      const last = page.find(({ started }) => started)
      before = page.at(-1)?.id ?? null
      if (last !== undefined) return lastBetIn(last)
      if (before === null) return null
    }
  }

  function lastBetIn({ id: roundId, sessionId, game, stake, currency, createdAt: at }: RoundState): LastBet {
    return { roundId, sessionId, game, stake: String(stake), currency, at }
  }

  function entryOf(
    act: 'player.stop' | 'player.lift-stop',
    by: ActedBy | null,
    before: StopDocument | null,
    after: StopDocument,
  ) {
    if (by === null) return null
    const now = clock.now()
    const shown = (one: StopDocument) => {
      const { last_bet: _bet, rounds_ended_at: _ended, record: _record, ...rest } = presentStop(one, now)
      return rest
    }
    const object = { type: 'player-stop', id: after._id }
    return audit.entry(by, {
      act,
      object,
      before: before === null ? null : shown(before),
      after: shown(after),
    })
  }
}

/** When the stop ended, or will end. */
function endOf({ liftedAt, endsAt }: Pick<StopDocument, 'liftedAt' | 'endsAt'>): Date {
  return liftedAt ?? endsAt
}
