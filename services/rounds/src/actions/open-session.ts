import type { Caller } from '@pitboss/contracts/caller'
import type { sessionCreateSchema } from '@pitboss/contracts/objects/session'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import { hashBody } from '@pitboss/contracts/json'
import { claimIdempotencyKey, peekIdempotencyKey } from '@pitboss/storage/idempotency-keys'
import type { Outbox } from '@pitboss/storage/outbox'
import { outboxEntry } from '@pitboss/storage/outbox-entry'
import type { Db } from 'mongodb'
import type { z } from 'zod'
import { narrow } from '../rules/limits.ts'
import { assertRealMoney } from '../rules/live-rules.ts'
import { sessionCreatedData } from '../records/present-session.ts'
import { scopeKey } from '../storage/round-document.ts'
import type { SessionDocument, SessionsStore } from '../storage/sessions-store.ts'
import type { GameAccess, OfferedGame } from './game-access.ts'
import { assertCurrency, judgeAmount, readAmount } from '../rules/read-amount.ts'

type SessionBody = z.output<typeof sessionCreateSchema>
type OpenSessionDeps = {
  db: Db
  sessions: SessionsStore
  access: GameAccess
  outbox: Pick<Outbox, 'relay'>
  clock: Clock
  newId: (prefix: string) => string
}

const list = 'sessions'

export type OpenSession = (caller: Caller, body: SessionBody) => Promise<SessionDocument>

/**
 * Opens a session, or answers the session that was opened under the same idempotency key. Checks in order:
 * decimals, game, currency, brand, limits, real-money rules. Source: docs/contract.md, sections 1, 3, 4 and
 * 12.
 */
export function createOpenSession({
  db,
  sessions,
  access,
  outbox,
  clock,
  newId,
}: OpenSessionDeps): OpenSession {
  async function repeated({ scope, idempotencyKey: key }: Caller, bodyHash: string) {
    if (key === null) return null
    const objectId = await peekIdempotencyKey({ db, scope, list, key, bodyHash, now: clock.now() })
    return objectId === null ? null : sessions.find(scope, objectId)
  }

  async function idFor({ scope, idempotencyKey: key }: Caller, bodyHash: string): Promise<string> {
    const newSessionId = () => newId('ses')
    if (key === null) return newSessionId()
    const now = clock.now()
    const claim = { db, scope, list, key, bodyHash, newId: newSessionId, now }
    return (await claimIdempotencyKey(claim)).objectId
  }

  return async function openSession(caller, body) {
    const { scope, account } = caller
    judgeAmount(body.limits?.min_stake, body.currency, 'limits.min_stake')
    judgeAmount(body.limits?.max_stake, body.currency, 'limits.max_stake')
    const bodyHash = hashBody(body)
    const earlier = await repeated(caller, bodyHash)
    if (earlier !== null) return earlier

    const game = await access.offered(scope.operatorId, body.game)
    assertCurrency(body.currency, account)
    if (body.brand !== undefined && !account.brands.some(({ brand_id }) => brand_id === body.brand)) {
      throw new ServiceError('BRAND_NOT_FOUND')
    }
    const limits = readLimits(body, game)
    assertRealMoney(scope.environment, account)

    const createdAt = clock.now()
    const session = {
      _id: await idFor(caller, bodyHash),
      scope: scopeKey(scope),
      operatorId: scope.operatorId,
      environment: scope.environment,
      playerId: body.player_id,
      game: body.game,
      currency: body.currency,
      brandId: body.brand ?? null,
      language: body.language ?? null,
      country: body.country ?? null,
      returnUrl: body.return_url ?? null,
      metadata: Object.entries(body.metadata ?? {}).map(([key, value]) => ({ key, value })),
      limits,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + body.expires_in_s * 1000),
      closedAt: null,
    }
    const event = outboxEntry({
      id: newId('evt'),
      type: 'game.session.created',
      createdAt,
      scope,
      data: sessionCreatedData(session),
    })
    const opened = await sessions.insert(session, event)
    await failpoint('rounds.session-stored')
    void outbox.relay(opened._id, opened.outbox)
    return opened
  }
}

function readLimits(body: SessionBody, game: OfferedGame): SessionDocument['limits'] {
  if (body.limits === undefined) return null
  const read = (text: string | undefined, path: string) =>
    text === undefined ? null : readAmount(text, body.currency, path)
  const minStake = read(body.limits.min_stake, 'limits.min_stake')
  const maxStake = read(body.limits.max_stake, 'limits.max_stake')
  const narrowed = narrow(game.limits(body.currency), { minStake, maxStake })
  if (narrowed.minStake > narrowed.maxStake) {
    const path = minStake === null ? 'limits.max_stake' : 'limits.min_stake'
    throw invalidField(path, 'leaves no stake within the limits of the game')
  }
  return {
    minStake: minStake === null ? null : String(minStake),
    maxStake: maxStake === null ? null : String(maxStake),
  }
}
