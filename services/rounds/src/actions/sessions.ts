import type { ActedBy } from '@pitboss/contracts/audit'
import { type Account, type Caller, lookupScopes, scopeKey, scopeOf } from '@pitboss/contracts/caller'
import type { createSession, dashboardListSessions as endpoint } from '@pitboss/contracts/endpoints/sessions'
import { profileOf } from '@pitboss/contracts/jurisdictions'
import { invalidField, readAll, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { readWindow } from '@pitboss/storage/created-within'
import { eventIdOf } from '@pitboss/storage/event-id'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { renderEvent } from '@pitboss/storage/rendered-event'
import { readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import type { Acting, RoundsContext } from '../context.ts'
import { presentSession, sessionCreatedData } from '../records/present-session.ts'
import { abandonedAt } from '../rules/due-at.ts'
import {
  assertCurrency,
  capRangeOf,
  judgeAmount,
  type Limits,
  narrow,
  readAmount,
  readCap,
} from '../rules/limits.ts'
import { assertRealMoney } from '../rules/live-rules.ts'
import { sequenceKey } from '../storage/round-document.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import { readOfferedGame } from './offered-game.ts'

type SessionBody = z.output<typeof createSession.call.request>['body']
type Terms = Pick<SessionDocument, 'limits' | 'jurisdiction' | 'realityCheckS' | 'stakeCap'>

/**
 * Opens a session, or answers the session that was opened under the same idempotency key. Checks in order:
 * decimals, game, currency, brand, reality check, stake cap, limits, real-money rules, and those of wings.
 * Source: docs/contract.md, sections 1, 3, 4 and 12.
 */
export async function openSession(context: RoundsContext, caller: Caller, body: SessionBody) {
  const { keys, sessions, hooks } = context
  const { scope } = caller
  readAll(
    () => judgeAmount(body.limits?.min_stake, body.currency, 'limits.min_stake'),
    () => judgeAmount(body.limits?.max_stake, body.currency, 'limits.max_stake'),
    () => judgeReturnUrl(body.return_url, scope.environment),
  )
  const createdAt = context.clock.now()
  const creation = { list: 'sessions', body, now: createdAt }
  const earlierId = await keys.find(caller, creation)
  const earlier = earlierId === null ? null : await sessions.find(scope, earlierId)
  if (earlier !== null) {
    await hooks.afterSession(earlier, false)
    return earlier
  }

  const terms = await readTerms(context, caller, body)
  await hooks.beforeSession(scope, body.player_id)
  const session = {
    _id: (await keys.claim(caller, { ...creation, newId: () => context.newId('ses') })).objectId,
    ...{ scope: scopeKey(scope), ...scope, playerId: body.player_id, game: body.game },
    ...{ currency: body.currency, brandId: body.brand ?? null, language: body.language ?? null },
    ...{ country: body.country ?? null, returnUrl: body.return_url ?? null },
    metadata: Object.entries(body.metadata ?? {}).map(([key, value]) => ({ key, value })),
    ...terms,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + body.expires_in_s * 1000),
    closedAt: null,
  }
  const type = 'game.session.created'
  const id = eventIdOf(scope, { type, about: session._id })
  const event = renderEvent({ id, type, createdAt, scope, data: sessionCreatedData(session) })
  const opened = await sessions.insert(session, event)
  await failpoint('rounds.session-stored')
  await hooks.afterSession(opened, true)
  return opened
}

async function readTerms(context: RoundsContext, { scope, account }: Caller, body: SessionBody) {
  const game = await readOfferedGame(context, scope.operatorId, body.game)
  assertCurrency(body.currency, account, 'currency')
  if (body.brand !== undefined && !account.brands.some(({ brand_id }) => brand_id === body.brand)) {
    throw new ServiceError('BRAND_NOT_FOUND')
  }
  const protection = protectionOf(body, account)
  const limits = readLimits(body, narrow(game.limits(body.currency), capRangeOf(protection)))
  assertRealMoney(scope.environment, account)
  return { limits, ...protection }
}

/** @throws ServiceError VALIDATION_ERROR at `reality_check_s` without a jurisdiction that asks for checks */
function protectionOf(body: SessionBody, account: Account): Omit<Terms, 'limits'> {
  const brand = account.brands.find(({ brand_id }) => brand_id === body.brand)
  const jurisdiction =
    body.jurisdiction ?? brand?.default_jurisdiction ?? account.default_jurisdiction ?? 'NONE'
  const { realityCheckS } = profileOf({ jurisdiction })
  if (realityCheckS === null && body.reality_check_s !== undefined) {
    throw invalidField('reality_check_s', 'needs a jurisdiction with reality checks')
  }
  const cap = readCap(body.stake_cap, { jurisdiction, currency: body.currency })
  if (jurisdiction === 'NONE') return {}
  return {
    jurisdiction,
    ...cap,
    ...(realityCheckS === null ? {} : { realityCheckS: body.reality_check_s ?? realityCheckS }),
  }
}

function readLimits(body: SessionBody, allowed: Limits): SessionDocument['limits'] {
  if (body.limits === undefined) return null
  const read = (text: string | undefined, path: string) =>
    text === undefined ? null : readAmount(text, body.currency, path)
  const minStake = read(body.limits.min_stake, 'limits.min_stake')
  const maxStake = read(body.limits.max_stake, 'limits.max_stake')
  const narrowed = narrow(allowed, { minStake, maxStake })
  if (narrowed.minStake > narrowed.maxStake) {
    const path = minStake === null ? 'limits.max_stake' : 'limits.min_stake'
    throw invalidField(path, 'leaves no stake within the limits of the game')
  }
  return { minStake: minStake?.toString() ?? null, maxStake: maxStake?.toString() ?? null }
}

/** A player with real money is never sent back over an open line. */
function judgeReturnUrl(url: string | undefined, environment: Caller['scope']['environment']): void {
  if (environment === 'LIVE' && url?.startsWith('http:') === true)
    throw invalidField('return_url', 'must be an https address in LIVE')
}

type ListQuery = z.output<typeof endpoint.query>

export async function findSession({ sessions }: RoundsContext, caller: Caller, sessionId: string) {
  return findInScopes(lookupScopes(caller), (scope) => sessions.find(scope, sessionId), 'SESSION_NOT_FOUND')
}

/** Lists sessions, newest first. Source: docs/contract.md, sections 4 and 11. */
export async function listSessions(context: RoundsContext, { scope }: Caller, query: ListQuery, now: Date) {
  const { sessions, cursors } = context
  const { limit, cursor, environment: _environment, ...filters } = query
  const { player_id: playerId, status } = filters
  return readPage({
    cursors,
    binding: { list: 'sessions', scope, filters },
    query: { limit, cursor },
    read: (before, max) =>
      sessions.list(scope, { playerId, status, ...readWindow(filters) }, { before, max, now }),
    positionOf: ({ _id }) => _id,
  })
}

/**
 * Closes a session, once; its round counts as abandoned a minute later. Source: docs/contract.md, section 4.
 *  @throws ServiceError SESSION_NOT_FOUND
 */
export async function closeSession(context: RoundsContext, caller: Caller, id: string, acting: Acting) {
  const { sessions, rounds, scaleMs } = context
  const { now, by } = acting
  const found = await findSession(context, caller, id)
  const scope = scopeOf(found)
  const entry = by === null ? null : closingOf(context, found, now, by)
  const session = await sessions.close(scope, id, now, entry)
  if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
  const endedAt = session.closedAt ?? now
  // After a crash between the two writes, a repeat makes the second one.
  const left = abandonedAt({ lastActionAt: endedAt, sittingEndsAt: endedAt }, scaleMs)
  await rounds.endSession(sequenceKey(scope, session.game, session.playerId), id, endedAt, left)
  return session
}

function closingOf({ audit }: RoundsContext, session: SessionDocument, now: Date, by: ActedBy) {
  const shown = (one: SessionDocument) => {
    const { status, player_id, game, closed_at } = presentSession(one, now)
    return { status, player_id, game, closed_at }
  }
  const object = { type: 'game-session', id: session._id } as const
  const after = shown({ ...session, closedAt: now })
  return audit.entry(by, { act: 'game-session.close', object, before: shown(session), after })
}
