import { graceMs, sittingAbandonedAt } from '../../../rules/due-at.ts'
import type { RoundState } from '../../../rules/round.ts'
import { sequenceKey } from '../../../storage/round-document.ts'
import type { ProtectionContext } from '../context.ts'
import { isEndedByStop, type LastBet, nextLookAt } from '../rules/stop.ts'
import type { StopDocument } from '../storage/stops-store.ts'
import { stopInForce } from './admit-session.ts'

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
  const { operatorId, environment, playerId, endsAt } = stopped
  const scope = { operatorId, environment }
  const now = clock.now()
  const current = await stopInForce(context, scope, playerId)
  if (current?._id === stopped._id) {
    await sessions.stopAll(scope, playerId, { id: stopped._id, endsAt }, now)
  }
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
  const { operatorId, environment, playerId } = stopped
  const filters = { playerId, to: endOf(stopped) }
  // What a dead process has left may be in no list yet.
  await rounds.showUndone()
  for (let before: string | null = null; ; ) {
    const at = { before, max: roundsAtOnce }
    const page: RoundState[] = await rounds.list({ operatorId, environment }, filters, at)
    const last = page.find(({ started }) => started)
    before = page.at(-1)?.id ?? null
    if (last !== undefined) return lastBetIn(last)
    if (before === null) return null
  }
}

function lastBetIn({ id: roundId, sessionId, game, stake, currency, createdAt: at }: RoundState): LastBet {
  return { roundId, sessionId, game, stake: String(stake), currency, at }
}

/** When the stop ended, or will end. */
function endOf({ liftedAt, endsAt }: Pick<StopDocument, 'liftedAt' | 'endsAt'>): Date {
  return liftedAt ?? endsAt
}
