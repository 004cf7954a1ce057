import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import { cancelFreeBet, createFreeBet, getFreeBet, listFreeBets } from '@pitboss/contracts/endpoints/rounds'
import type { FreeBet } from '@pitboss/contracts/objects/free-bet'
import { grantId as grantIdSchema } from '@pitboss/contracts/primitives'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { formatAmount } from '@pitboss/money/amount'
import type { Clock } from '@pitboss/runtime/clock'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { hashBody } from '@pitboss/contracts/hash-body'
import { claimIdempotencyKey, peekIdempotencyKey } from '@pitboss/storage/idempotency-keys'
import type { Db } from 'mongodb'
import { grantStatusAt } from '../rules/grant-status.ts'
import { isWithin } from '../rules/limits.ts'
import { scopeKey } from '../storage/round-document.ts'
import type { GrantDocument, GrantFilters, GrantsStore } from '../storage/grants-store.ts'
import type { GameAccess } from '../actions/game-access.ts'
import { readPage, readWindow } from './page.ts'
import { assertCurrency, judgeAmount, readAmount } from '../rules/read-amount.ts'

type FreeBetsDeps = {
  db: Db
  grants: GrantsStore
  access: GameAccess
  cursors: CursorCodec
  clock: Clock
  newId: (prefix: string) => string
}

type FreeBetBody = {
  player_id: string
  game: string
  currency: string
  stake: string
  count: number
  expires_at?: string | undefined
}

const listName = 'free-bets'
const neverEnds = new Date('9999-12-31T23:59:59.999Z')

/** Grants of free bets; their use is part of playing a round. Contract section 4, "Free bets". */
export function createFreeBetHandlers({
  db,
  grants,
  access,
  cursors,
  clock,
  newId,
}: FreeBetsDeps): CallHandler[] {
  async function create(caller: Caller, body: FreeBetBody) {
    judgeAmount(body.stake, body.currency, 'stake')
    const { scope, idempotencyKey: key } = caller
    const now = clock.now()
    const claim = { db, scope, list: listName, bodyHash: hashBody(body), now }
    const earlierId = key === null ? null : await peekIdempotencyKey({ ...claim, key })
    const earlier = earlierId === null ? null : await grants.find(scope, earlierId)
    if (earlier !== null) return presentGrant(earlier, now)

    const checked = await check(caller, body, now)
    const newGrantId = () => newId('frb')
    const _id =
      key === null ? newGrantId() : (await claimIdempotencyKey({ ...claim, key, newId: newGrantId })).objectId
    const grant = await grants.insert({
      _id,
      scope: scopeKey(scope),
      environment: scope.environment,
      playerId: body.player_id,
      game: body.game,
      currency: body.currency,
      stake: String(checked.stake),
      count: body.count,
      remaining: body.count,
      uses: [],
      createdAt: now,
      endsAt: checked.expiresAt ?? neverEnds,
      expiresAt: checked.expiresAt,
      cancelledAt: null,
    })
    return presentGrant(grant, now)
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

  async function find({ scope }: Caller, grantId: string): Promise<GrantDocument> {
    const grant = await grants.find(scope, grantId)
    if (grant === null) throw new ServiceError('NOT_FOUND')
    return grant
  }

  async function cancel(caller: Caller, grantId: string) {
    const now = clock.now()
    const cancelled = await grants.cancel(caller.scope, grantId, now)
    const grant = cancelled ?? (await find(caller, grantId))
    const status = grantStatusAt(grant, now)
    if (status !== 'CANCELLED') {
      throw new ServiceError('CONFLICT', {
        message: `The grant is ${status.toLowerCase()}; nothing is left to cancel.`,
      })
    }
    return presentGrant(grant, now)
  }

  async function list(
    { scope }: Caller,
    query: {
      player_id?: string | undefined
      game?: string | undefined
      status?: GrantFilters['status']
      from?: string | undefined
      to?: string | undefined
      limit: number
      cursor?: string | undefined
    },
  ) {
    const { limit, cursor, ...filters } = query
    const now = clock.now()
    const { player_id: playerId, game, status } = filters
    const { items, nextCursor } = await readPage({
      cursors,
      binding: { list: listName, scope, filters },
      query: { limit, cursor },
      position: grantIdSchema,
      read: (before, max) =>
        grants.list(scope, { playerId, game, status, ...readWindow(filters) }, { before, max, now }),
      positionOf: ({ _id }) => _id,
    })
    return {
      status: 200,
      body: { data: items.map((grant) => presentGrant(grant, now)), next_cursor: nextCursor },
    }
  }

  return [
    handler(createFreeBet.call, async ({ caller, body }) => ({
      status: 201,
      body: await create(caller, body),
    })),
    handler(listFreeBets.call, ({ caller, query }) => list(caller, query)),
    handler(getFreeBet.call, async ({ caller, params }) => ({
      status: 200,
      body: presentGrant(await find(caller, params.grant_id), clock.now()),
    })),
    handler(cancelFreeBet.call, async ({ caller, params }) => ({
      status: 200,
      body: await cancel(caller, params.grant_id),
    })),
  ]
}

function presentGrant(grant: GrantDocument, now: Date): FreeBet {
  return {
    grant_id: grant._id,
    status: grantStatusAt(grant, now),
    player_id: grant.playerId,
    game: grant.game,
    currency: grant.currency,
    stake: formatAmount(BigInt(grant.stake), grant.currency),
    count: grant.count,
    remaining: grant.remaining,
    environment: grant.environment,
    created_at: grant.createdAt.toISOString(),
    expires_at: grant.expiresAt?.toISOString() ?? null,
    cancelled_at: grant.cancelledAt?.toISOString() ?? null,
  }
}
