import type { IncomingMessage } from 'node:http'
import type { Account, Actor } from '@pitboss/contracts/caller'
import type { Audience, TokenClaims } from '@pitboss/contracts/token-claims'
import { ServiceError } from '@pitboss/errors/service-error'
import { isWithin } from '@pitboss/contracts/address-range'
import type { LackingStep } from '@pitboss/contracts/caller'
import type { Access } from '@pitboss/contracts/endpoint'
import { singleHeader } from '../input/headers.ts'
import type { AccessState } from './access-state.ts'
import type { Principal } from './principal-cache.ts'

/** The sender of a request, checked up to and including scope and role. */
export type Identity = {
  readonly audience: Audience
  readonly operatorId: string
  /** The token's environment; a dashboard user has both. */
  readonly mode: 'TEST' | 'LIVE'
  readonly account: Account
  readonly actor: Actor
  /** What travels with the calls of the request: the token inside the sender's, which opens nothing here. */
  readonly token: string
}

/**
 * Checks a request from `Authorization` to scope or role, in the order of docs/contract.md, section 1.
 * @throws ServiceError of the first check that fails.
 */
export async function identify({
  request,
  access,
  mayLack,
  state,
  clientAddress,
  onClaims,
}: {
  request: IncomingMessage
  access: Access
  mayLack: readonly LackingStep[]
  state: AccessState
  clientAddress: string
  /** Called as soon as the token names its operator, so that refusals are logged under it. */
  onClaims: (claims: TokenClaims) => void
}): Promise<Identity> {
  const token = bearerToken(request)
  const claims = await state.verify(token)
  onClaims(claims)
  const principal = await state.principalOf(claims)
  const { account, actor } = actorOf(claims, principal)
  requireAudience(access, claims.aud)
  if (account.suspended) throw new ServiceError('OPERATOR_SUSPENDED')
  const allowlist = principal.credential?.ip_allowlist ?? []
  if (allowlist.length > 0 && !isWithin(clientAddress, allowlist)) throw new ServiceError('IP_NOT_ALLOWED')
  requireSteps(principal, mayLack)
  requirePermission(access, actor)
  const { aud: audience, op: operatorId, mode, fwd = token } = claims
  return { audience, operatorId, mode, account, actor, token: fwd }
}

function bearerToken(request: IncomingMessage): string {
  const header = singleHeader(request, 'authorization')
  const token = header === null ? null : /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(header)?.[1]
  if (token === null || token === undefined) throw new ServiceError('UNAUTHORIZED')
  return token
}

function actorOf(claims: TokenClaims, principal: Principal): { account: Account; actor: Actor } {
  const { active, account, credential, user } = principal
  if (!active || account === null) throw revoked()
  switch (claims.aud) {
    case 'operator-api':
      if (credential === null || credential.environment !== claims.mode) throw revoked()
      return {
        account,
        actor: { kind: 'credential', api_key: claims.sub, scopes: [...credential.scopes] },
      }
    case 'game-launcher':
      return { account, actor: { kind: 'session', session_id: claims.sub } }
    case 'dashboard':
      if (user === null) throw revoked()
      const { lacks, ...person } = user
      const session = claims.sid === undefined ? {} : { session_id: claims.sid }
      return { account, actor: { kind: 'user', user_id: claims.sub, ...person, ...session } }
  }
}

function requireAudience(access: Access, audience: Audience): void {
  if (access[audience] !== undefined) return
  throw new ServiceError('INSUFFICIENT_SCOPE', {
    message: `This route is not for ${audience} tokens; it needs ${wantedText(access)}.`,
  })
}

/** Names the tokens that a route takes, for an error message. */
export function wantedText(access: Access): string {
  const wanted: string[] = []
  const scope = access['operator-api']
  if (scope === 'unrestricted') wanted.push('an operator-api token of a credential without scopes')
  else if (scope !== undefined) wanted.push(`an operator-api token with the scope ${scope}`)
  if (access['game-launcher'] !== undefined) wanted.push('a game-launcher token')
  if (access.dashboard !== undefined) wanted.push('a dashboard token')
  return wanted.join(' or ')
}

/** Holds back a person who has to take a step first. Source: docs/contract.md, section 12. */
function requireSteps({ user }: Principal, mayLack: readonly LackingStep[]): void {
  const lacks = user?.lacks ?? null
  if (lacks === null || mayLack.includes(lacks)) return
  const message =
    lacks === 'password'
      ? 'must be changed first: POST /v1/dashboard/me/password'
      : 'must be enrolled first: POST /v1/dashboard/me/totp'
  throw new ServiceError('FORBIDDEN', {
    message: `${lacks}: ${message}`,
    details: [{ path: lacks, message }],
  })
}

function requirePermission(access: Access, actor: Actor): void {
  if (actor.kind === 'credential') {
    const wanted = access['operator-api']
    if (actor.scopes.length === 0 || wanted === undefined) return
    if (wanted !== 'unrestricted' && grants(actor.scopes, wanted)) return
    throw new ServiceError('INSUFFICIENT_SCOPE', {
      message:
        wanted === 'unrestricted'
          ? 'This needs a credential without scopes.'
          : `This needs the scope ${wanted}.`,
    })
  }
  if (actor.kind !== 'user') return
  if (access.dashboard?.includes(actor.role) === true) return
  throw new ServiceError('FORBIDDEN', {
    message: `The role ${actor.role} does not permit this; it is for ${(access.dashboard ?? []).join(', ')}.`,
  })
}

/** A write includes its read. Source: docs/contract.md, section 2. */
function grants(scopes: readonly string[], wanted: string): boolean {
  return scopes.includes(wanted) || scopes.includes(wanted.replace(/:read$/, ':write'))
}

function revoked(): ServiceError {
  return new ServiceError('INVALID_CREDENTIALS', { message: 'The token is no longer valid.' })
}
