import type { ActedBy } from '@pitboss/contracts/audit'
import type * as api from '@pitboss/contracts/endpoints/players'
import { invalidField } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { neverEnds } from '../../../rules/live-rules.ts'
import { conflict } from '../../../rules/refusal.ts'
import { scopeKey, scopeOf } from '../../../storage/round-document.ts'
import type { ProtectionContext } from '../context.ts'
import { presentStop } from '../records/present-protection.ts'
import type { StopDocument } from '../storage/stops-store.ts'
import { enforceStop } from './settle-stops.ts'

type StopRequest = z.output<typeof api.dashboardStopPlayer.call.request>
type LiftRequest = z.output<typeof api.dashboardLiftStop.call.request>
type ListRequest = z.output<typeof api.dashboardListStops.call.request>

/**
 * Stops a player. A repeat answers the stop in force; a later end moves its end. The stop is stored first;
 * then it closes the player's sessions, which refuses new stakes, and hands open rounds to the sweeper, which
 * ends them to the player's advantage. Source: docs/contract.md, section 4, "Stops". @param by the person who
 * is audited; null for an operator's server. @throws ServiceError VALIDATION_ERROR at `until`; CONFLICT when
 * the stop in force ends later
 */
export async function stopPlayer(context: ProtectionContext, request: StopRequest, by: ActedBy | null) {
  const { scope } = request.caller
  const { player_id: playerId } = request.params
  const { reason, until: untilText } = request.body
  const now = context.clock.now()
  const until = untilText === undefined ? null : new Date(untilText)
  if (until !== null && until <= now) throw invalidField('until', 'must lie in the future')
  const wanted: StopDocument = {
    ...{ reason, until, endsAt: until ?? neverEnds },
    ...{ _id: context.newId('stp'), scope: scopeKey(scope), ...scope, playerId, from: now },
    ...{ liftedAt: null, liftReason: null, roundsEndedAt: null, lastBet: null },
    ...{ inForce: true, unsigned: true, dueAt: now },
  }
  const entry = entryOf(context, 'player.stop', by, null, wanted)
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
  const entry = entryOf(context, 'player.stop', by, current, { ...current, ...wanted })
  return stops.extend(scope, current._id, wanted, now, entry)
}

/** Lifts the stop in force, or answers the last lifted one. @throws ServiceError CONFLICT for none */
export async function liftStop(context: ProtectionContext, request: LiftRequest, by: ActedBy | null) {
  const { scope } = request.caller
  const { player_id: playerId } = request.params
  const { reason } = request.body
  const { stops, sessions } = context
  const now = context.clock.now()
  const current = await stops.current(scope, playerId)
  const after = current === null ? null : { ...current, liftedAt: now, liftReason: reason }
  const entry = after === null ? null : entryOf(context, 'player.lift-stop', by, current, after)
  const [last] = await stops.list(scope, playerId, { before: null, max: 1 })
  const lifted = (await stops.lift(scope, playerId, now, reason, entry)) ?? last ?? null
  if (lifted === null || lifted.liftedAt === null) throw conflict('No stop of this player is in force.')
  // After a crash between the two writes, a repeat makes the second one.
  await sessions.forgetStop(scope, playerId, lifted._id)
  return lifted
}

export async function listStops({ stops, cursors }: ProtectionContext, request: ListRequest) {
  const { scope } = request.caller
  const { player_id: playerId } = request.params
  return readPage({
    cursors,
    binding: { list: 'player-stops', scope, filters: { playerId } },
    query: request.query,
    read: (before, max) => stops.list(scope, playerId, { before, max }),
    positionOf: ({ _id }) => _id,
  })
}

function entryOf(
  { audit, clock }: ProtectionContext,
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
  const object = { type: 'player-stop', id: after._id } as const
  return audit.entry(by, { act, object, before: before === null ? null : shown(before), after: shown(after) })
}
