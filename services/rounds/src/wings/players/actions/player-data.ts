import { orderedBy } from '@pitboss/contracts/audit'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import type { playerDataKind } from '@pitboss/contracts/calls/rounds'
import type { Scope } from '@pitboss/contracts/caller'
import type { z } from 'zod'
import { dataPage } from '../../../actions/data-page.ts'
import type { RoundsContext } from '../../../context.ts'
import type { DataPage } from '../../../hooks.ts'
import { presentFreeBet } from '../../../records/present-free-bet.ts'
import { presentRound, roundBytes } from '../../../records/present-round.ts'
import { presentSession } from '../../../records/present-session.ts'

/** Idempotency keys show a session again for 24 hours after it was made, as it was. */
const detailsNeededMs = 24 * 60 * 60 * 1000

/** Reads a page of one kind of a player's records, newest first. Source: docs/data.md. */
export async function readPlayerData(
  context: RoundsContext,
  scope: Scope,
  playerId: string,
  kind: z.infer<typeof playerDataKind>,
  before: string | null,
): Promise<DataPage> {
  const { sessions, rounds, grants, hooks } = context
  const now = context.clock.now()
  const positionOf = ({ _id }: { readonly _id: string }) => _id
  switch (kind) {
    case 'session':
      return dataPage({
        read: (max) => sessions.list(scope, { playerId }, { before, max, now }),
        positionOf,
        present: (one) => presentSession(one, now),
      })
    case 'round':
      return dataPage({
        read: (max) => rounds.list(scope, { playerId }, { before, max }),
        positionOf: ({ id }) => id,
        present: presentRound,
        bytesOf: roundBytes,
      })
    case 'free_bet':
      return dataPage({
        read: (max) => grants.list(scope, { playerId }, { before, max, now }),
        positionOf,
        present: (one) => presentFreeBet(one, now),
      })
    case 'stop':
    case 'limits':
      return hooks.playerData[kind](scope, playerId, before)
  }
}

/**
 * Erases details of sessions that ended a day ago or earlier; money records and proofs stay. It is audited
 * before, by number: the audit must not retain what the erasure takes. Source: docs/data.md.
 * @returns how many sessions lost details, or would in a dry run, and how many still have them
 */
export async function erasePlayer(
  { sessions, audit, clock }: RoundsContext,
  { scope, playerId, order }: { scope: Scope; playerId: string; order: OpsOrder },
  requestId: string,
): Promise<{ erased: number; kept: number }> {
  const endedBy = new Date(clock.now().getTime() - detailsNeededMs)
  const { ended, all } = await sessions.countDetails(scope, playerId, endedBy)
  const kept = all - ended
  if (order.dryRun || ended === 0) return { erased: ended, kept }
  const entry = audit.entry(orderedBy(order, scope.operatorId, requestId), {
    act: 'player.erase',
    object: { type: 'player', id: playerId },
    before: null,
    after: { environment: scope.environment, sessions: ended },
  })
  await audit.store(entry)
  return { erased: await sessions.eraseDetails(scope, playerId, endedBy), kept }
}
