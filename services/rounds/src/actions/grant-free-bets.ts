import { hashBody } from '@pitboss/contracts/json'
import type { Caller } from '@pitboss/contracts/caller'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { claimIdempotencyKey, peekIdempotencyKey } from '@pitboss/storage/idempotency-keys'
import type { Db } from 'mongodb'
import { isWithin } from '../rules/limits.ts'
import { assertCurrency, judgeAmount, readAmount } from '../rules/read-amount.ts'
import type { GrantDocument, GrantsStore } from '../storage/grants-store.ts'
import { scopeKey } from '../storage/round-document.ts'
import type { GameAccess } from './game-access.ts'

type FreeBetBody = {
  player_id: string
  game: string
  currency: string
  stake: string
  count: number
  expires_at?: string | undefined
}

export type GrantFreeBets = (caller: Caller, body: FreeBetBody, now: Date) => Promise<GrantDocument>

const list = 'free-bets'
const neverEnds = new Date('9999-12-31T23:59:59.999Z')

/**
 * Grants free bets to a player, or answers the grant that was made under the same idempotency key. Checks in
 * order: decimals, game, currency, amount, limits, expiry. Source: docs/contract.md, sections 1 and 4.
 */
export function createGrantFreeBets({
  db,
  grants,
  access,
  newId,
}: {
  db: Db
  grants: Pick<GrantsStore, 'find' | 'insert'>
  access: Pick<GameAccess, 'offered'>
  newId: (prefix: string) => string
}): GrantFreeBets {
  return async function grantFreeBets(caller, body, now) {
    judgeAmount(body.stake, body.currency, 'stake')
    const { scope, idempotencyKey: key } = caller
    const claim = { db, scope, list, bodyHash: hashBody(body), now }
    const earlierId = key === null ? null : await peekIdempotencyKey({ ...claim, key })
    const earlier = earlierId === null ? null : await grants.find(scope, earlierId)
    if (earlier !== null) return earlier

    const { stake, expiresAt } = await check(caller, body, now)
    const newGrantId = () => newId('frb')
    const _id =
      key === null ? newGrantId() : (await claimIdempotencyKey({ ...claim, key, newId: newGrantId })).objectId
    return grants.insert({
      _id,
      scope: scopeKey(scope),
      environment: scope.environment,
      playerId: body.player_id,
      game: body.game,
      currency: body.currency,
      stake: String(stake),
      count: body.count,
      remaining: body.count,
      uses: [],
      createdAt: now,
      endsAt: expiresAt ?? neverEnds,
      expiresAt,
      cancelledAt: null,
    })
  }

  async function check({ scope, account }: Caller, body: FreeBetBody, now: Date) {
    const game = await access.offered(scope.operatorId, body.game)
    assertCurrency(body.currency, account)
    const stake = readAmount(body.stake, body.currency, 'stake')
    if (!isWithin(game.limits(body.currency), stake)) throw new ServiceError('BET_LIMIT_EXCEEDED')
    const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at)
    if (expiresAt !== null && expiresAt <= now) throw invalidField('expires_at', 'must lie in the future')
    return { stake, expiresAt }
  }
}
