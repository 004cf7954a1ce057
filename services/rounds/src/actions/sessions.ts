import type { ActedBy } from '@pitboss/contracts/audit'
import { type Account, type Caller, lookupScopes } from '@pitboss/contracts/caller'
import type { createSession, listSessions } from '@pitboss/contracts/endpoints/sessions'
import { profileOf } from '@pitboss/contracts/jurisdictions'
import { sessionId as sessionIdSchema } from '@pitboss/contracts/primitives'
import { invalidField, readAll, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { eventIdOf } from '@pitboss/storage/event-id'
import type { Outbox } from '@pitboss/storage/outbox'
import { outboxEntry } from '@pitboss/storage/outbox-entry'
import { type Page, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { presentSession, sessionCreatedData } from '../records/present-session.ts'
import { abandonedAt } from '../rules/due-at.ts'
import { assertCurrency, judgeAmount, type Limits, narrow, readAmount } from '../rules/limits.ts'
import { capRangeOf, readCap } from '../rules/stake-cap.ts'
import { assertRealMoney } from '../rules/live-rules.ts'
import { playerStopped } from '../rules/stop.ts'
import { scopeKey, sequenceKey } from '../storage/round-document.ts'
import type { PlayerLimitsStore } from '../storage/player-limits-store.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import type { Parts } from './parts.ts'
import type { PlayerStops } from './player-stops.ts'
import { readWindow } from './read-window.ts'

type ListQuery = z.output<typeof listSessions.query>
type SessionBody = z.output<typeof createSession.call.request>['body']

export type Sessions = ReturnType<typeof createSessions>

/** Creates the actions of operators about sessions. Source: docs/contract.md, sections 4 and 11. */
export function createSessions({
  keys,
  sessions,
  rounds,
  access,
  audit,
  cursors,
  outbox,
  stops,
  playerLimits,
  clock,
  newId,
  scaleMs,
}: Pick<
  Parts,
  'keys' | 'sessions' | 'rounds' | 'access' | 'audit' | 'cursors' | 'clock' | 'newId' | 'scaleMs'
> & {
  outbox: Pick<Outbox, 'relay'>
  stops: Pick<PlayerStops, 'inForce'>
  playerLimits: Pick<PlayerLimitsStore, 'exists'>
}) {
  return { open, close, find, list, currenciesInUse: sessions.currenciesInUse }

  /**
   * Opens a session, or answers the session that was opened under the same idempotency key. Checks in order:
   * decimals, game, currency, brand, reality check, stake cap, limits, real-money rules, a stop of
   * the player. Source: docs/contract.md, sections 1, 3, 4 and 12.
   */
  async function open(caller: Caller, body: SessionBody): Promise<SessionDocument> {
    const { scope, account } = caller
    readAll(
      () => judgeAmount(body.limits?.min_stake, body.currency, 'limits.min_stake'),
      () => judgeAmount(body.limits?.max_stake, body.currency, 'limits.max_stake'),
      () => judgeReturnUrl(body.return_url, scope.environment),
    )
    const createdAt = clock.now()
    const creation = { list: 'sessions', body, now: createdAt }
    const earlierId = await keys.find(caller, creation)
    const earlier = earlierId === null ? null : await sessions.find(scope, earlierId)
    if (earlier !== null) return counted(earlier)

    const game = await access.offered(scope.operatorId, body.game)
    assertCurrency(body.currency, account, 'currency')
    if (body.brand !== undefined && !account.brands.some(({ brand_id }) => brand_id === body.brand)) {
      throw new ServiceError('BRAND_NOT_FOUND')
    }
    const protection = protectionOf(body, account)
    const limits = readLimits(body, narrow(game.limits(body.currency), capRangeOf(protection)))
    assertRealMoney(scope.environment, account)
    const stop = await stops.inForce(scope, body.player_id)
    if (stop !== null) throw playerStopped(stop.endsAt)

    const session = {
      _id: await keys.claim(caller, creation, () => newId('ses')),
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
      ...protection,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + body.expires_in_s * 1000),
      closedAt: null,
    }
    const data = sessionCreatedData(session)
    const type = 'game.session.created'
    const id = eventIdOf(scope, { type, about: session._id })
    const event = outboxEntry({ id, type, createdAt, scope, data })
    const opened = await sessions.insert(session, event)
    await failpoint('rounds.session-stored')
    void outbox.relay({ _id: opened._id }, opened.outbox)
    // A stop that began meanwhile may have looked at the player's sessions before this one was there.
    const late = await stops.inForce(scope, body.player_id)
    if (late === null) return counted(opened)
    await sessions.stopAll(scope, body.player_id, { id: late._id, endsAt: late.endsAt }, clock.now())
    throw playerStopped(late.endsAt)
  }

  /**
   * The session, marked if its player has limits. Whoever sets the first ones looks at the sessions that are
   * there; so no session is answered whose stakes would not be counted.
   */
  async function counted(session: SessionDocument): Promise<SessionDocument> {
    if (session.limited === true) return session
    const scope = { operatorId: session.operatorId, environment: session.environment }
    if (await playerLimits.exists(scope, session.playerId)) {
      await sessions.markLimited(scope, session.playerId, clock.now())
    }
    return session
  }

  /**
   * Closes a session; closing it again changes nothing. The round that it plays counts as abandoned a minute
   * later. Source: docs/contract.md, section 4.
   * @param by the person whose act is audited; null for an operator's server
   * @throws ServiceError SESSION_NOT_FOUND
   */
  async function close(
    caller: Caller,
    sessionId: string,
    now: Date,
    by: ActedBy | null,
  ): Promise<SessionDocument> {
    const found = await find(caller, sessionId)
    const scope = { operatorId: found.operatorId, environment: found.environment }
    const entry = by === null ? null : closingOf(found, now, by)
    const session = await sessions.close(scope, sessionId, now, entry)
    if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
    const endedAt = session.closedAt ?? now
    // After a crash between the two writes, a repeat makes the second one.
    const left = abandonedAt({ lastActionAt: endedAt, sittingEndsAt: endedAt }, scaleMs)
    await rounds.endSession(sequenceKey(scope, session.game, session.playerId), sessionId, endedAt, left)
    return session
  }

  function closingOf(session: SessionDocument, now: Date, by: ActedBy) {
    const shown = (one: SessionDocument) => {
      const { status, player_id, game, closed_at } = presentSession(one, now)
      return { status, player_id, game, closed_at }
    }
    const object = { type: 'game-session', id: session._id }
    const after = shown({ ...session, closedAt: now })
    return audit.entry(by, { act: 'game-session.close', object, before: shown(session), after })
  }

  /** @throws ServiceError SESSION_NOT_FOUND */
  async function find(caller: Caller, sessionId: string): Promise<SessionDocument> {
    for (const scope of lookupScopes(caller)) {
      const session = await sessions.find(scope, sessionId)
      if (session !== null) return session
    }
    throw new ServiceError('SESSION_NOT_FOUND')
  }

  async function list(
    { scope }: Caller,
    { limit, cursor, ...filters }: ListQuery,
    now: Date,
  ): Promise<Page<SessionDocument>> {
    const { player_id: playerId, status } = filters
    return readPage({
      cursors,
      binding: { list: 'sessions', scope, filters },
      query: { limit, cursor },
      position: sessionIdSchema,
      read: (before, max) =>
        sessions.list(scope, { playerId, status, ...readWindow(filters) }, { before, max, now }),
      positionOf: ({ _id }) => _id,
    })
  }
}

/** @throws ServiceError VALIDATION_ERROR at `reality_check_s` without a jurisdiction that asks for checks */
function protectionOf(
  body: SessionBody,
  account: Account,
): Pick<SessionDocument, 'jurisdiction' | 'realityCheckS' | 'stakeCap'> {
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
