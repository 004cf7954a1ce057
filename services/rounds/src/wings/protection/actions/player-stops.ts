import type { ActedBy } from '@pitboss/contracts/audit'
import type { RequestOf } from '@pitboss/contracts/call'
import { type Scope, scopeKey, scopeOf } from '@pitboss/contracts/caller'
import { signStopRecord } from '@pitboss/contracts/calls/auth'
import type * as api from '@pitboss/contracts/endpoints/players'
import { conflict, invalidField } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { readPage } from '@pitboss/storage/read-page'
import { graceMs, sittingAbandonedAt } from '../../../rules/due-at.ts'
import { neverEnds, playerStopped } from '../../../rules/live-rules.ts'
import type { RoundState } from '../../../rules/round.ts'
import { sequenceKey } from '../../../storage/round-document.ts'
import type { SessionDocument } from '../../../storage/sessions-store.ts'
import { presentStop, stopRecordText } from '../records/present-protection.ts'
import { isEndedByStop, type LastBet, nextLookAt, stopStatusAt } from '../rules/stop.ts'
import type { StopDocument } from '../storage/stops-store.ts'
import type { ProtectionContext } from './player-limits.ts'

type StopRequest = RequestOf<typeof api.dashboardStopPlayer.call>
type LiftRequest = RequestOf<typeof api.dashboardLiftStop.call>
type ListRequest = RequestOf<typeof api.dashboardListStops.call>

/**
 * Stops a player. A repeat answers the stop in force; a later end moves its end. The stop is stored first;
 * then it closes the player's sessions, which refuses new stakes, and hands open rounds to the sweeper, which
 * ends them to the player's advantage. Source: docs/contract.md, section 4, "Stops". @param by the person who
 * is audited; null for an operator's server. @throws ServiceError VALIDATION_ERROR at `until`; CONFLICT when
 * the stop in force ends later
 */
export async function stopPlayer(context: ProtectionContext, asked: StopRequest, by: ActedBy | null) {
  const [{ scope }, { player_id: playerId }] = [asked.caller, asked.params]
  const { reason, until: untilText } = asked.body
  const now = context.clock.now()
  const until = untilText === undefined ? null : new Date(untilText)
  if (until !== null && until <= now) throw invalidField('until', 'must lie in the future')
  const wanted: StopDocument = {
    ...{ reason, until, endsAt: until ?? neverEnds },
    ...{ _id: context.newId('stp'), scope: scopeKey(scope), ...scope, playerId, from: now },
    ...{ liftedAt: null, liftReason: null, roundsEndedAt: null, lastBet: null },
    ...{ inForce: true, unsigned: true, dueAt: now },
  }
  const entry = by && entryOf(context, by, wanted, null)
  const isBegun = await context.stops.begin(wanted, entry)
  const stopped = isBegun ? wanted : await extendStop(context, wanted, by)
  if (stopped === null)
    throw conflict('A stop that ends later is in force. Lift it first to let the player play earlier.')
  await failpoint('rounds.stop-stored')
  await enforceStop(context, stopped)
  return stopped
}

async function extendStop(context: ProtectionContext, asked: StopDocument, by: ActedBy | null) {
  const { stops } = context
  const { playerId, reason, until, endsAt, from: now } = asked
  const [scope, wanted] = [scopeOf(asked), { reason, until, endsAt }]
  const current = await stops.current(scope, playerId)
  if (current === null) return null
  const isSame = current.reason === reason && current.endsAt.getTime() === endsAt.getTime()
  if (isSame) return current
  const entry = by && entryOf(context, by, { ...current, ...wanted }, current)
  return stops.extend(scope, current._id, wanted, now, entry)
}

/** Lifts the stop in force, or answers the last lifted one. @throws ServiceError CONFLICT for none */
export async function liftStop(context: ProtectionContext, asked: LiftRequest, by: ActedBy | null) {
  const [{ scope }, { player_id: playerId }] = [asked.caller, asked.params]
  const { reason } = asked.body
  const { stops, sessions } = context
  const now = context.clock.now()
  const current = await stops.current(scope, playerId)
  const after = current && { ...current, liftedAt: now, liftReason: reason }
  const entry = by && after && entryOf(context, by, after, current)
  const [last] = await stops.list(scope, playerId, { before: null, max: 1 })
  const lifted = (await stops.lift(scope, playerId, now, reason, entry)) ?? last ?? null
  if (lifted === null || lifted.liftedAt === null) throw conflict('No stop of this player is in force.')
  // After a crash between the two writes, a repeat makes the second one.
  await sessions.forgetStop(scope, playerId, lifted._id)
  return lifted
}

export async function listStops({ stops, cursors }: ProtectionContext, asked: ListRequest) {
  const [{ scope }, { player_id: playerId }] = [asked.caller, asked.params]
  return readPage({
    cursors,
    binding: { list: 'player-stops', scope, filters: { playerId } },
    query: asked.query,
    read: (before, max) => stops.list(scope, playerId, { before, max }),
    positionOf: ({ _id }) => _id,
  })
}

function entryOf(context: ProtectionContext, by: ActedBy, after: StopDocument, before: StopDocument | null) {
  const now = context.clock.now()
  const shown = (one: StopDocument) => {
    const { last_bet: _bet, rounds_ended_at: _ended, record: _record, ...rest } = presentStop(one, now)
    return rest
  }
  return context.audit.entry(by, {
    act: after.liftedAt === null ? 'player.stop' : 'player.lift-stop',
    object: { type: 'player-stop', id: after._id },
    before: before && shown(before),
    after: shown(after),
  })
}

/** Rounds that are read at once for the last bet; refused stakes leave rounds that have not started. */
const roundsAtOnce = 100

/** Stores the last bet of due stops whose rounds have all ended. @returns how many were due */
export async function settleStops(context: ProtectionContext, stopping: AbortSignal): Promise<number> {
  const { stops, clock } = context
  const due = await stops.findDue(clock.now())
  for (const stopped of due) {
    if (stopping.aborted) break
    const left = await enforceStop(context, stopped)
    const now = clock.now()
    const next = nextLookAt(stopped, left, now)
    if (next !== null) await stops.postpone(stopped._id, next)
    else await stops.settle(stopped._id, now, await lastBetOf(context, stopped))
  }
  return due.length
}

/** Closes the player's sessions and ends rounds unless the stop is over. @returns true while any is left */
export async function enforceStop(context: ProtectionContext, stopped: StopDocument): Promise<boolean> {
  const { sessions, rounds, clock, scaleMs } = context
  const { playerId, endsAt } = stopped
  const scope = scopeOf(stopped)
  const now = clock.now()
  const current = await stopInForce(context, scope, playerId)
  if (current?._id === stopped._id) await sessions.stopAll(scope, playerId, { id: stopped._id, endsAt }, now)
  let left = false
  for (const { game } of context.catalogue.entries) {
    const sequence = sequenceKey(scope, game.slug, playerId)
    const round = (await rounds.findUnfinished(sequence))?.round ?? null
    if (round === null || !isEndedByStop(round)) continue
    // A round of after the stop is none of its business.
    if (current === null && round.createdAt > endOf(stopped)) continue
    left = true
    // The request of a round that is not open yet may still be at work on it.
    const due = round.status === 'OPEN' ? now : new Date(now.getTime() + graceMs)
    await rounds.endSession(sequence, round.sessionId, sittingAbandonedAt(now, scaleMs), due)
  }
  return left
}

async function lastBetOf({ rounds }: ProtectionContext, stopped: StopDocument): Promise<LastBet | null> {
  const { playerId } = stopped
  const filters = { playerId, to: endOf(stopped) }
  // What a dead process has left may be in no list yet.
  await rounds.showUndone()
  for (let before: string | null = null; ; ) {
    const at = { before, max: roundsAtOnce }
    const page: RoundState[] = await rounds.list(scopeOf(stopped), filters, at)
    const last = page.find(({ started }) => started)
    before = page.at(-1)?.id ?? null
    if (last !== undefined) {
      const { id: roundId, sessionId, game, stake, currency, createdAt: at } = last
      return { roundId, sessionId, game, stake: String(stake), currency, at }
    }
    if (before === null) return null
  }
}

function endOf({ liftedAt, endsAt }: Pick<StopDocument, 'liftedAt' | 'endsAt'>): Date {
  return liftedAt ?? endsAt
}

/**
 * Signs the stops whose rounds have ended. The record's bytes are stored before their signature: a process
 * that dies between, or a second replica, changes neither. Source: docs/contract.md, section 4, "Stops".
 * @returns how many waited. @throws the last failure, after all were tried
 */
export async function signStops(context: ProtectionContext, stopping: AbortSignal): Promise<number> {
  let failure: unknown = null
  const waiting = await context.stops.findUnsigned()
  for (const stopped of waiting) {
    if (stopping.aborted) break
    try {
      await signStop(context, stopped)
    } catch (error) {
      failure = error
    }
  }
  if (failure !== null) throw failure
  return waiting.length
}

async function signStop({ stops, bus }: ProtectionContext, stopped: StopDocument): Promise<void> {
  const text = stopped.record?.text ?? stopRecordText(stopped)
  // Another replica was faster, or the stop has changed: the next look signs what is kept then.
  if (stopped.record === undefined && !(await stops.keepRecord(stopped, text))) return
  await failpoint('rounds.stop-record-kept')
  const { jws } = await bus.call(signStopRecord, { text })
  await failpoint('rounds.stop-record-signed')
  await stops.keepSignature(stopped._id, jws)
}

/** Refuses a session of a player who is stopped. @throws ServiceError PLAYER_BLOCKED */
export async function beforeSession(context: ProtectionContext, scope: Scope, playerId: string) {
  const stop = await stopInForce(context, scope, playerId)
  if (stop !== null) throw playerStopped(stop.endsAt)
}

/**
 * Marks a session whose player has limits before it is answered. Setting the first limits marks the sessions
 * that are there: so no session is answered whose stakes are not counted. Closes a new one for a stop that
 * began meanwhile and may have missed it. @throws ServiceError PLAYER_BLOCKED
 */
export async function afterSession(context: ProtectionContext, session: SessionDocument, isNew: boolean) {
  const { sessions, playerLimits, clock } = context
  const { playerId } = session
  const scope = scopeOf(session)
  const stop = isNew ? await stopInForce(context, scope, playerId) : null
  if (stop !== null) {
    await sessions.stopAll(scope, playerId, { id: stop._id, endsAt: stop.endsAt }, clock.now())
    throw playerStopped(stop.endsAt)
  }
  if (session.limited !== true && (await playerLimits.exists(scope, playerId)))
    await sessions.markLimited(scope, playerId, clock.now())
}

/** Finds the stop that refuses new play of the player now; null for none. */
export async function stopInForce({ stops, clock }: ProtectionContext, scope: Scope, playerId: string) {
  const current = await stops.current(scope, playerId)
  return current !== null && stopStatusAt(current, clock.now()) === 'IN_FORCE' ? current : null
}
