import type { ActedBy } from './audit.ts'
import type { Actor, Caller, Scope } from './caller.ts'
import { toEventEnvironment } from './primitives.ts'
import type { Audience, TokenClaims } from './token-claims.ts'

/** A call's access token and the caller it bears out: docs/decisions/2026-11-23-services-check-tokens.md. */

/** The account, environment and sender that a request names. */
type NamedCaller = {
  readonly operatorIds: readonly (string | null)[]
  /** `both`: an object is looked up in both. */
  readonly environment: Scope['environment'] | 'both'
  /** Null where the request names an account alone, or its sender by `subject`. */
  readonly actor: Actor | null
  /** A key or person whom the request names by id. */
  readonly subject?: string
}

export type TokenRule<Request> = {
  readonly audiences: readonly Audience[]
  /** Seconds after its expiry in which a token still counts. */
  readonly leewayS: number
  named(request: Request): NamedCaller
}

/** A call that carries no token, with the reason. */
export type NoToken = { readonly none: string }

export type CallToken<Request> = TokenRule<Request> | NoToken

/**
 * More than the time from the gateway's own check to the callee's, so that nothing on its way fails: 10 s
 * for the body and 30 s for the longest budget.
 */
const leewayS = 60

/** The token of an endpoint's caller, of one of the audiences that `access` names. */
export function tokenOfCaller(access: { readonly [Key in Audience]?: unknown }): TokenRule<{
  caller: Caller
}> {
  const audiences = (['operator-api', 'game-launcher', 'dashboard'] as const).filter(
    (audience) => access[audience] !== undefined,
  )
  return {
    audiences,
    leewayS,
    named: ({ caller: { scope, account, actor, eitherEnvironment } }) => ({
      operatorIds: [scope.operatorId, account.operator_id],
      environment: eitherEnvironment ? 'both' : scope.environment,
      actor,
    }),
  }
}

/** The token of an operator's server whose account and environment are `scopeOf` the request. */
export function tokenOfOperator<Request>(
  scopeOf: (request: Request) => { operatorId: string | null; environment: Scope['environment'] },
  longerS = 0,
): TokenRule<Request> {
  return {
    audiences: ['operator-api'],
    leewayS: leewayS + longerS,
    named(request) {
      const { operatorId, environment } = scopeOf(request)
      return { operatorIds: [operatorId], environment, actor: null }
    },
  }
}

/** The token of the key or person who is the author of a change; a service passes it on with its own call. */
export function tokenOfAuthor<
  Request extends { readonly by: Pick<ActedBy, 'operator_id' | 'actor'> },
>(): TokenRule<Request> {
  return {
    audiences: ['dashboard', 'operator-api'],
    leewayS,
    named: ({ by }) => ({
      ...{ operatorIds: [by.operator_id], environment: 'both', actor: null, subject: by.actor.id },
    }),
  }
}

export type TokenMismatch = 'audience' | 'account' | 'subject' | 'environment'

/**
 * The first part of the caller that the token's claims do not bear out; null when they bear out all. A
 * person's token is good for both environments.
 */
export function mismatchOf<Request>(
  rule: TokenRule<Request>,
  claims: TokenClaims,
  request: Request,
): TokenMismatch | null {
  const { operatorIds, environment, actor, subject } = rule.named(request)
  if (!rule.audiences.includes(claims.aud)) return 'audience'
  if (operatorIds.some((operatorId) => operatorId !== claims.op)) return 'account'
  if (actor !== null && !isSubject(actor, claims)) return 'subject'
  if (subject !== undefined && subject !== claims.sub) return 'subject'
  const isOfMode = subject !== undefined || environment === toEventEnvironment(claims.mode)
  return claims.aud === 'dashboard' || isOfMode ? null : 'environment'
}

function isSubject(actor: Actor, { aud, sub, sid }: TokenClaims): boolean {
  switch (actor.kind) {
    case 'credential':
      return aud === 'operator-api' && actor.api_key === sub
    case 'session':
      return aud === 'game-launcher' && actor.session_id === sub
    case 'user':
      return aud === 'dashboard' && actor.user_id === sub && actor.session_id === sid
  }
}
