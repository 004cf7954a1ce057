import type { ActedBy } from '@pitboss/contracts/audit'
import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import type { createFreeBet, listFreeBets } from '@pitboss/contracts/endpoints/rounds'
import { grantId as grantIdSchema } from '@pitboss/contracts/primitives'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { type Page, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { grantStatusAt, presentFreeBet } from '../records/present-free-bet.ts'
import { assertCurrency, isWithin, judgeAmount, readAmount } from '../rules/limits.ts'
import type { GrantDocument, GrantsStore } from '../storage/grants-store.ts'
import { scopeKey, scopeOf, type StoredRound } from '../storage/round-document.ts'
import type { Parts } from './parts.ts'
import { readWindow } from './read-window.ts'

type FreeBetBody = z.output<typeof createFreeBet.call.request>['body']
type ListQuery = z.output<typeof listFreeBets.query>

export type FreeBets = ReturnType<typeof createFreeBets>

const neverEnds = new Date('9999-12-31T23:59:59.999Z')

/** Creates the grants of free bets and their reads. Source: docs/contract.md, section 4, "Free bets". */
export function createFreeBets({
  keys,
  grants,
  access,
  audit,
  cursors,
  newId,
}: Pick<Parts, 'keys' | 'access' | 'audit' | 'cursors' | 'newId'> & { grants: GrantsStore }) {
  return { grant, find, list, cancel }

  /**
   * Grants free bets to a player, or answers the grant that was made under the same idempotency key or
   * reference. Checks in order: decimals, game, currency, amount, limits, expiry. Source: docs/contract.md,
   * sections 1 and 4.
   * @param by the person whose act is audited; null for an operator's server
   * @throws ServiceError CONFLICT for a key or a reference of another grant; the refusals of the checks
   */
  async function grant(
    caller: Caller,
    body: FreeBetBody,
    now: Date,
    by: ActedBy | null,
  ): Promise<GrantDocument> {
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

    const { stake, expiresAt } = await check(caller, body, now)
    const made: GrantDocument = {
      _id: await keys.claim(caller, creation, () => newId('frb')),
      scope: scopeKey(scope),
      environment: scope.environment,
      playerId: body.player_id,
      game: body.game,
      currency: body.currency,
      stake: String(stake),
      count: body.count,
      remaining: body.count,
      ...(body.reference === undefined ? {} : { reference: body.reference }),
      uses: [],
      createdAt: now,
      endsAt: expiresAt ?? neverEnds,
      expiresAt,
      cancelledAt: null,
    }
    if (by === null) return sameGrant(await grants.insert(made), body)
    const object = { type: 'free-bet', id: made._id }
    const after = presentFreeBet(made, now)
    const entry = audit.entry(by, { act: 'free-bet.create', object, before: null, after })
    return sameGrant(await grants.insert({ ...made, ...auditedInsert(entry) }), body)
  }

  async function check({ scope, account }: Caller, body: FreeBetBody, now: Date) {
    const game = await access.offered(scope.operatorId, body.game)
    assertCurrency(body.currency, account, 'currency')
    const stake = readAmount(body.stake, body.currency, 'stake')
    if (!isWithin(game.limits(body.currency), stake)) throw new ServiceError('BET_LIMIT_EXCEEDED')
    const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at)
    if (expiresAt !== null && expiresAt <= now) throw invalidField('expires_at', 'must lie in the future')
    return { stake, expiresAt }
  }

  /** @throws ServiceError NOT_FOUND */
  async function find(caller: Caller, grantId: string): Promise<GrantDocument> {
    for (const scope of lookupScopes(caller)) {
      const found = await grants.find(scope, grantId)
      if (found !== null) return found
    }
    throw new ServiceError('NOT_FOUND')
  }

  async function list(
    { scope }: Caller,
    { limit, cursor, ...filters }: ListQuery,
    now: Date,
  ): Promise<Page<GrantDocument>> {
    const { player_id: playerId, game, status } = filters
    return readPage({
      cursors,
      binding: { list: 'free-bets', scope, filters },
      query: { limit, cursor },
      position: grantIdSchema,
      read: (before, max) =>
        grants.list(scope, { playerId, game, status, ...readWindow(filters) }, { before, max, now }),
      positionOf: ({ _id }) => _id,
    })
  }

  /**
   * Cancels the rest of a grant; repeating it changes nothing.
   * @param by as of `grant`
   * @throws ServiceError NOT_FOUND, CONFLICT
   */
  async function cancel(
    caller: Caller,
    grantId: string,
    now: Date,
    by: ActedBy | null,
  ): Promise<GrantDocument> {
    const found = await find(caller, grantId)
    const scope = { operatorId: caller.scope.operatorId, environment: found.environment }
    const entry = by === null ? null : cancellingOf(found, now, by)
    const cancelled = await grants.cancel(scope, grantId, now, entry)
    const shown = cancelled ?? (await find(caller, grantId))
    const status = grantStatusAt(shown, now)
    if (status === 'CANCELLED') return shown
    throw new ServiceError('CONFLICT', {
      message: `The grant is ${status.toLowerCase()}; nothing is left to cancel.`,
    })
  }

  /** What was left may change until the write, so the records leave it out. */
  function cancellingOf(grant: GrantDocument, now: Date, by: ActedBy) {
    const shown = (one: GrantDocument) => {
      const { status, player_id, game, cancelled_at } = presentFreeBet(one, now)
      return { status, player_id, game, cancelled_at }
    }
    const object = { type: 'free-bet', id: grant._id }
    const after = shown({ ...grant, cancelledAt: now })
    return audit.entry(by, { act: 'free-bet.cancel', object, before: shown(grant), after })
  }
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

/** `taken-back`: neither the stake nor a free bet was taken, and the round is gone. */
export type Started =
  | { readonly kind: 'started'; readonly stored: StoredRound }
  | { readonly kind: 'taken-back'; readonly error: ServiceError }

/** Creates the two steps of a round that is played with a free bet in the place of a stake. */
export function createUseFreeBet({
  rounds,
  grants,
  actor,
  clock,
}: Pick<Parts, 'rounds' | 'grants' | 'actor' | 'clock'>) {
  return { chooseGrant, takeGrant }

  /** The player's oldest grant with this stake. @throws ServiceError VALIDATION_ERROR when there is none */
  async function chooseGrant(
    scope: Scope,
    { playerId, game, currency }: { playerId: string; game: string; currency: string },
    stake: bigint,
  ): Promise<string> {
    const open = await grants.open(scope, { playerId, game, currency }, clock.now())
    if (open.length === 0) throw noFreeBet()
    const fitting = open.find((grant) => BigInt(grant.stake) === stake)
    if (fitting === undefined) throw invalidField('stake', "must equal the free bet's stake")
    return fitting._id
  }

  /**
   * Takes a free bet of the round's grant. The grant may have been used up, or cancelled, since it was
   * chosen: then there is no round. The grant gives every later request for this round the same answer, so
   * first request, repeats and sweeper agree. An intent that another worker has touched is ended by the
   * sweeper.
   * @throws ServiceError VALIDATION_ERROR when the grant is used up and the intent was touched
   */
  async function takeGrant(stored: StoredRound): Promise<Started> {
    const { round } = stored
    const used = await grants.use(scopeOf(round), round.grantId ?? '', round.id, clock.now())
    await failpoint('rounds.grant-used')
    if (used) return { kind: 'started', stored: await actor.send(stored, { type: 'grant-used' }) }
    if (await rounds.remove(stored)) return { kind: 'taken-back', error: noFreeBet() }
    throw noFreeBet()
  }
}

export function noFreeBet(): ServiceError {
  return invalidField('free_bet', 'there is no free bet for this player and game')
}
