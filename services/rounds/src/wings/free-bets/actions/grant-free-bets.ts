import type { ActedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import type { createFreeBet } from '@pitboss/contracts/endpoints/rounds'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import type { z } from 'zod'
import { readOfferedGame } from '../../../actions/offered-game.ts'
import type { RoundsContext } from '../../../context.ts'
import { presentFreeBet } from '../../../records/present-free-bet.ts'
import { assertCurrency, isWithin, judgeAmount, readAmount } from '../../../rules/limits.ts'
import type { GrantDocument } from '../../../storage/grants-store.ts'
import { scopeKey } from '../../../storage/round-document.ts'

export type FreeBetBody = z.output<typeof createFreeBet.call.request>['body']

const neverEnds = new Date('9999-12-31T23:59:59.999Z')

/**
 * Grants free bets to a player, or answers the grant that was made under the same idempotency key or
 * reference. Checks in order: decimals, game, currency, amount, limits, expiry. Source: docs/contract.md,
 * sections 1 and 4.
 * @param by the person whose act is audited; null for an operator's server
 * @throws ServiceError CONFLICT for a key or a reference of another grant; the refusals of the checks
 */
export async function grantFreeBets(
  context: RoundsContext,
  caller: Caller,
  body: FreeBetBody,
  now: Date,
  by: ActedBy | null,
): Promise<GrantDocument> {
  const { keys, grants, newId } = context
  judgeAmount(body.stake, body.currency, 'stake')
  const { scope } = caller
  const creation = { list: 'free-bets', body, now }
  const earlierId = await keys.find(caller, creation)
  const earlier = earlierId === null ? null : await grants.find(scope, earlierId)
  if (earlier !== null) return earlier
  const named = body.reference === undefined ? null : await grants.findReferenced(scope, body.reference)
  if (named !== null) {
    sameGrant(named, body)
    await keys.claim(caller, creation, () => named._id)
    return named
  }

  const { stake, expiresAt } = await check(context, caller, body, now)
  const made: GrantDocument = {
    _id: await keys.claim(caller, creation, () => newId('frb')),
    ...{ scope: scopeKey(scope), environment: scope.environment, playerId: body.player_id, game: body.game },
    ...{ currency: body.currency, stake: String(stake), count: body.count, remaining: body.count },
    ...(body.reference === undefined ? {} : { reference: body.reference }),
    ...{ uses: [], createdAt: now, endsAt: expiresAt ?? neverEnds, expiresAt, cancelledAt: null },
  }
  if (by === null) return sameGrant(await grants.insert(made), body)
  const object = { type: 'free-bet', id: made._id } as const
  const after = presentFreeBet(made, now)
  const entry = context.audit.entry(by, { act: 'free-bet.create', object, before: null, after })
  return sameGrant(await grants.insert({ ...made, ...auditedInsert(entry) }), body)
}

async function check(context: RoundsContext, { scope, account }: Caller, body: FreeBetBody, now: Date) {
  const game = await readOfferedGame(context, scope.operatorId, body.game)
  assertCurrency(body.currency, account, 'currency')
  const stake = readAmount(body.stake, body.currency, 'stake')
  if (!isWithin(game.limits(body.currency), stake)) throw new ServiceError('BET_LIMIT_EXCEEDED')
  const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at)
  if (expiresAt !== null && expiresAt <= now) throw invalidField('expires_at', 'must lie in the future')
  return { stake, expiresAt }
}

/** @throws ServiceError CONFLICT when the grant is another than the body asks for, by what it means */
function sameGrant(grant: GrantDocument, body: FreeBetBody): GrantDocument {
  const isSame =
    grant.playerId === body.player_id &&
    grant.game === body.game &&
    grant.currency === body.currency &&
    grant.stake === String(readAmount(body.stake, grant.currency, 'stake')) &&
    grant.count === body.count &&
    (grant.expiresAt?.toISOString() ?? null) === (body.expires_at ?? null)
  if (isSame) return grant
  throw new ServiceError('CONFLICT', {
    message: `This reference belongs to another grant, ${grant._id}.`,
    details: [{ path: 'reference', message: 'was used with a different body' }],
  })
}
