import * as auth from '@pitboss/contracts/endpoints/auth'
import * as events from '@pitboss/contracts/endpoints/events'
import * as play from '@pitboss/contracts/endpoints/play'
import * as players from '@pitboss/contracts/endpoints/players'
import * as rounds from '@pitboss/contracts/endpoints/rounds'
import * as sessions from '@pitboss/contracts/endpoints/sessions'
import * as webhooks from '@pitboss/contracts/endpoints/webhooks'
import type { Access, ScopeRule } from '@pitboss/contracts/endpoint'

type Endpoint = { readonly route: string; readonly access: Access }

const scopedRoutes = [auth, events, play, players, rounds, sessions, webhooks]
  .flatMap((module) => Object.values<unknown>(module))
  .filter(isEndpoint)
  .flatMap(({ route, access: { 'operator-api': scope } }) =>
    scope === undefined || scope === 'unrestricted' ? [] : [{ route: patternOf(route), scope }],
  )

/**
 * The scope that a request of an operator's server needs; null for one that needs none, and for no route.
 * Source: docs/contract.md, section 2.
 */
export function scopeOfRequest({ method, path }: { method: string; path: string }): ScopeRule | null {
  return scopedRoutes.find(({ route }) => route.test(`${method} ${path}`))?.scope ?? null
}

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'route' in value && 'access' in value
}

/** `GET /v1/rounds/{round_id}` as a pattern; a parameter is one part of a path. */
function patternOf(route: string): RegExp {
  return new RegExp(`^${route.replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`)
}
