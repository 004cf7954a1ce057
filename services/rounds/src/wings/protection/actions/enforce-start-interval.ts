import type { RequestOf } from '@pitboss/contracts/call'
import type { Scope } from '@pitboss/contracts/caller'
import type { answerRealityCheck as realityCheck } from '@pitboss/contracts/endpoints/play'
import { profileOf } from '@pitboss/contracts/jurisdictions'
import { conflict, ServiceError } from '@pitboss/errors/service-error'
import { findPlayer } from '../../../actions/player-page.ts'
import { closeSession } from '../../../actions/sessions.ts'
import type { Paced, RoundsContext } from '../../../context.ts'
import { assertSessionOpen, realityCheckAt } from '../../../rules/live-rules.ts'
import { earlyStart, latestEarlierStart } from '../rules/stop.ts'
import { databaseTime, type ProtectionContext } from './player-limits.ts'

type Pacing = Pick<ProtectionContext, 'paces' | 'clock' | 'clockOffsetMs'>

/** Spaces a player's game starts over all games, sessions and replicas, by the database's time. */
export function enforceStartInterval(context: Pacing, scope: Scope, session: Paced, startedBy: string) {
  const { paces } = context
  const { startGapS: gapS } = profileOf(session)
  if (gapS === null) return null
  const { playerId } = session
  return {
    start(at: Date) {
      const start = { startedAt: databaseTime(context), startedBy }
      const madeAt = databaseTime(context, at)
      return paces.start(scope, playerId, start, { madeAt, notAfter: latestEarlierStart(madeAt, gapS) })
    },
    early: async () =>
      earlyStart(await paces.last(scope, playerId), { startedBy, gapS }, databaseTime(context)),
  }
}

type Answer = RequestOf<typeof realityCheck.call>

/**
 * Answers a reality check once: going on starts the next interval, stopping closes the session. Source:
 * docs/contract.md, section 4, "Jurisdictions".
 * @throws ServiceError SESSION_NOT_FOUND; CONFLICT without reality checks; SESSION_CLOSED, SESSION_EXPIRED
 */
export async function answerRealityCheck(context: RoundsContext, { caller, body }: Answer, now: Date) {
  const { scope, session } = await findPlayer(context, caller)
  const dueAt = realityCheckAt(session)
  if (dueAt === null) throw conflict('This session has no reality checks.')
  if (body.choice === 'stop') return closeSession(context, caller, session._id, { now, by: null })
  assertSessionOpen(session, now)
  if (now < dueAt) return session
  const answered = await context.sessions.keepRealityCheck(scope, session._id, now)
  if (answered === null) throw new ServiceError('SESSION_CLOSED')
  return answered
}
