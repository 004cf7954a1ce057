import type { ActedBy } from '@pitboss/contracts/audit'
import { type Caller, lookupScopes } from '@pitboss/contracts/caller'
import type { dashboardListFreeBets as endpoint } from '@pitboss/contracts/endpoints/rounds'
import { ServiceError } from '@pitboss/errors/service-error'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { type Page, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { readWindow } from '../../../actions/read-window.ts'
import type { RoundsContext } from '../../../context.ts'
import { grantStatusAt, presentFreeBet } from '../../../records/present-free-bet.ts'
import type { GrantDocument } from '../../../storage/grants-store.ts'

type ListGrantsQuery = z.output<typeof endpoint.query>

/** Finds a grant of the caller's account. @throws ServiceError NOT_FOUND */
export async function findGrant(
  { grants }: Pick<RoundsContext, 'grants'>,
  caller: Caller,
  grantId: string,
): Promise<GrantDocument> {
  return findInScopes(lookupScopes(caller), (scope) => grants.find(scope, grantId))
}

/** Lists grants, newest first. Source: docs/contract.md, section 4, "Free bets". */
export async function listGrants(
  { grants, cursors }: Pick<RoundsContext, 'grants' | 'cursors'>,
  { scope }: Caller,
  { limit, cursor, environment: _environment, ...filters }: ListGrantsQuery,
  now: Date,
): Promise<Page<GrantDocument>> {
  const { player_id: playerId, game, status } = filters
  return readPage({
    cursors,
    binding: { list: 'free-bets', scope, filters },
    query: { limit, cursor },
    read: (before, max) =>
      grants.list(scope, { playerId, game, status, ...readWindow(filters) }, { before, max, now }),
    positionOf: ({ _id }) => _id,
  })
}

/**
 * Cancels the rest of a grant, once. @param by the person who is audited; null for an operator's server
 * @throws ServiceError NOT_FOUND, CONFLICT
 */
export async function cancelGrant(
  context: RoundsContext,
  caller: Caller,
  grantId: string,
  now: Date,
  by: ActedBy | null,
): Promise<GrantDocument> {
  const found = await findGrant(context, caller, grantId)
  const scope = { operatorId: caller.scope.operatorId, environment: found.environment }
  const entry = by === null ? null : cancellingOf(context, found, now, by)
  const cancelled = await context.grants.cancel(scope, grantId, now, entry)
  const shown = cancelled ?? (await findGrant(context, caller, grantId))
  const status = grantStatusAt(shown, now)
  if (status === 'CANCELLED') return shown
  throw new ServiceError('CONFLICT', {
    message: `The grant is ${status.toLowerCase()}; nothing is left to cancel.`,
  })
}

/** What was left may change until the write, so the records leave it out. */
function cancellingOf({ audit }: RoundsContext, grant: GrantDocument, now: Date, by: ActedBy) {
  const shown = (one: GrantDocument) => {
    const { status, player_id, game, cancelled_at } = presentFreeBet(one, now)
    return { status, player_id, game, cancelled_at }
  }
  const object = { type: 'free-bet', id: grant._id } as const
  const after = shown({ ...grant, cancelledAt: now })
  return audit.entry(by, { act: 'free-bet.cancel', object, before: shown(grant), after })
}
