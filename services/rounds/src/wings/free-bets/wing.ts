import { answer, type HandlerContext, handlers } from '@pitboss/bus/serve-calls'
import { personActing } from '@pitboss/contracts/audit'
import type { RequestOf } from '@pitboss/contracts/call'
import { type Caller, lookupScopes, scopeKey } from '@pitboss/contracts/caller'
import * as api from '@pitboss/contracts/endpoints/rounds'
import { conflict, invalidField, ServiceError } from '@pitboss/errors/service-error'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { readWindow } from '@pitboss/storage/created-within'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { answerPage, readPage } from '@pitboss/storage/read-page'
import { readOfferedGame } from '../../actions/offered-game.ts'
import type { Acting, RoundsContext } from '../../context.ts'
import { grantStatusAt, presentFreeBet } from '../../records/present-session.ts'
import { assertCurrency, isWithin, judgeAmount, readAmount } from '../../rules/limits.ts'
import { neverEnds } from '../../rules/live-rules.ts'
import type { GrantDocument } from '../../storage/grants-store.ts'
import type { Wing } from '../../wing.ts'

/** Grants of free bets by operators. Source: docs/contract.md, section 4, "Free bets". */
export const freeBets: Wing = {
  open(context) {
    const actingNow = (caller: Caller, call: HandlerContext) => {
      return { now: context.clock.now(), by: personActing(caller, call) }
    }
    return {
      calls: [
        ...handlers([api.createFreeBet.call, api.dashboardCreateFreeBet.call], async (asked, call) => {
          const acting = actingNow(asked.caller, call)
          return answer(presentFreeBet(await grantFreeBets(context, asked, acting), acting.now), 201)
        }),
        ...handlers([api.listFreeBets.call, api.dashboardListFreeBets.call], async (asked) => {
          const now = context.clock.now()
          return answerPage(await listGrants(context, asked, now), (one) => presentFreeBet(one, now))
        }),
        ...handlers([api.getFreeBet.call, api.dashboardGetFreeBet.call], async ({ caller, params }) =>
          answer(presentFreeBet(await findGrant(context, caller, params.grant_id), context.clock.now())),
        ),
        ...handlers([api.cancelFreeBet.call, api.dashboardCancelFreeBet.call], async (asked, call) => {
          const acting = actingNow(asked.caller, call)
          const grant = await cancelGrant(context, asked.caller, asked.params.grant_id, acting)
          return answer(presentFreeBet(grant, acting.now))
        }),
      ],
    }
  },
}

type Creation = Pick<RequestOf<typeof api.createFreeBet.call>, 'caller' | 'body'>

/**
 * Grants free bets, or answers the grant under the same idempotency key or reference. Checks in order:
 * decimals, game, currency, amount, limits, expiry. Source: docs/contract.md, sections 1 and 4.
 * @throws ServiceError CONFLICT for a key or a reference of another grant; the refusals of the checks
 */
async function grantFreeBets(context: RoundsContext, { caller, body }: Creation, { now, by }: Acting) {
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
    await keys.claim(caller, { ...creation, newId: () => named._id })
    return named
  }

  const { stake, expiresAt } = await check(context, caller, body, now)
  const made: GrantDocument = {
    _id: (await keys.claim(caller, { ...creation, newId: () => newId('frb') })).objectId,
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

async function check(context: RoundsContext, { scope, account }: Caller, body: Creation['body'], now: Date) {
  const game = await readOfferedGame(context, scope.operatorId, body.game)
  assertCurrency(body.currency, account, 'currency')
  const stake = readAmount(body.stake, body.currency, 'stake')
  if (!isWithin(game.limits(body.currency), stake)) throw new ServiceError('BET_LIMIT_EXCEEDED')
  const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at)
  if (expiresAt !== null && expiresAt <= now) throw invalidField('expires_at', 'must lie in the future')
  return { stake, expiresAt }
}

/** @throws ServiceError CONFLICT when the grant is another than the body asks for, by what it means */
function sameGrant(grant: GrantDocument, body: Creation['body']): GrantDocument {
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

async function findGrant({ grants }: RoundsContext, caller: Caller, grantId: string) {
  return findInScopes(lookupScopes(caller), (scope) => grants.find(scope, grantId))
}

type Listing = RequestOf<typeof api.dashboardListFreeBets.call>

async function listGrants({ grants, cursors }: RoundsContext, { caller, query }: Listing, now: Date) {
  const { scope } = caller
  const { limit, cursor, environment: _environment, ...filters } = query
  const { player_id: playerId, game, status } = filters
  const wanted = { playerId, game, status, ...readWindow(filters) }
  return readPage({
    cursors,
    binding: { list: 'free-bets', scope, filters },
    query: { limit, cursor },
    read: (before, max) => grants.list(scope, wanted, { before, max, now }),
    positionOf: ({ _id }) => _id,
  })
}

/** Cancels the rest of a grant, once. @throws ServiceError NOT_FOUND, CONFLICT */
async function cancelGrant(context: RoundsContext, caller: Caller, grantId: string, { now, by }: Acting) {
  const found = await findGrant(context, caller, grantId)
  const scope = { operatorId: caller.scope.operatorId, environment: found.environment }
  // What was left may change until the write, so the records leave it out.
  const shown = (one: GrantDocument) => {
    const { status, player_id, game, cancelled_at } = presentFreeBet(one, now)
    return { status, player_id, game, cancelled_at }
  }
  const object = { type: 'free-bet', id: grantId } as const
  const [before, after] = [shown(found), shown({ ...found, cancelledAt: now })]
  const entry = by && context.audit.entry(by, { act: 'free-bet.cancel', object, before, after })
  const cancelled = await context.grants.cancel(scope, grantId, now, entry)
  const grant = cancelled ?? (await findGrant(context, caller, grantId))
  const status = grantStatusAt(grant, now)
  if (status === 'CANCELLED') return grant
  throw conflict(`The grant is ${status.toLowerCase()}; nothing is left to cancel.`)
}
