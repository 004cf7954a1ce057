import type { Role } from '@pitboss/contracts/caller'

const everybody: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT', 'VIEWER']
const retriers: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT']
const builders: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER']
const ownerAndAdmin: readonly Role[] = ['OWNER', 'ADMIN']
const sessionClosers: readonly Role[] = ['OWNER', 'ADMIN', 'SUPPORT']
const ownerAlone: readonly Role[] = ['OWNER']

/**
 * Who may do what, by route. A test compares it with the endpoints of libs/contracts. Source:
 * docs/contract.md, section 2.
 */
export const routeRoles = {
  'GET /v1/dashboard/credentials': builders,
  'POST /v1/dashboard/credentials': builders,
  'POST /v1/dashboard/credentials/{api_key}/rotate': builders,
  'POST /v1/dashboard/credentials/{api_key}/revoke': builders,
  'GET /v1/dashboard/webhooks': builders,
  'POST /v1/dashboard/webhooks': builders,
  'GET /v1/dashboard/wallets/{environment}': builders,
  'POST /v1/dashboard/wallets/{environment}/certifications/{certification_id}/cancel': builders,
  'POST /v1/dashboard/webhooks/{webhook_id}/certifications/{certification_id}/cancel': builders,
  'POST /v1/dashboard/reports/reconciliation/{reconciliation_id}/cancel': everybody,
  'GET /v1/dashboard/request-logs': builders,
  'POST /v1/dashboard/webhook-deliveries/{delivery_id}/retry': retriers,
  'GET /v1/dashboard/webhook-deliveries': everybody,
  'GET /v1/dashboard/users': ownerAndAdmin,
  'GET /v1/dashboard/audit': ownerAndAdmin,
  'POST /v1/dashboard/users': ownerAlone,
  'PATCH /v1/dashboard/users/{user_id}': ownerAlone,
  'DELETE /v1/dashboard/users/{user_id}': ownerAlone,
  'PATCH /v1/business': ownerAndAdmin,
  'POST /v1/dashboard/brands': ownerAndAdmin,
  'DELETE /v1/dashboard/brands/{brand_id}': ownerAndAdmin,
  'PATCH /v1/dashboard/games/{slug}': ownerAndAdmin,
  'GET /v1/dashboard/approvals': builders,
  'POST /v1/dashboard/approvals/{approval_id}/approve': ownerAndAdmin,
  'POST /v1/dashboard/views': retriers,
  'POST /v1/dashboard/free-bets': ownerAndAdmin,
  'POST /v1/dashboard/free-bets/{grant_id}/cancel': ownerAndAdmin,
  'POST /v1/dashboard/sessions/{session_id}/close': sessionClosers,
  'PATCH /v1/dashboard/flags/{flag_id}': sessionClosers,
  'PUT /v1/dashboard/flag-rules/{environment}': ownerAndAdmin,
  'POST /v1/dashboard/players/{player_id}/stop': sessionClosers,
  'POST /v1/dashboard/players/{player_id}/stop/lift': sessionClosers,
  'PUT /v1/dashboard/players/{player_id}/limits': sessionClosers,
} as const satisfies Record<string, readonly Role[]>

export type Act = keyof typeof routeRoles

const list = new Intl.ListFormat('en', { type: 'conjunction' })

/** Null when the role may do it, else the reason in words. */
export function whyNot(role: Role, act: Act): string | null {
  const roles: readonly Role[] = routeRoles[act]
  if (roles.includes(role)) return null
  return `Your role is ${role}. This is for ${list.format(roles)}.`
}

/** What an OWNER alone decides. Source: docs/contract.md, section 3, "Approval". */
export function whyNotOwner(role: Role): string | null {
  return role === 'OWNER' ? null : `Your role is ${role}. This is for OWNER.`
}

/** A DEVELOPER makes, changes and rotates scoped TEST keys. Source: docs/contract.md, section 3. */
export function whyNoKeyLike(
  role: Role,
  key: { readonly environment: 'TEST' | 'LIVE'; readonly scopes: readonly string[] },
): string | null {
  if (role !== 'DEVELOPER') return whyNot(role, 'POST /v1/dashboard/credentials')
  if (key.environment === 'LIVE') return 'Your role is DEVELOPER. LIVE keys are for OWNER and ADMIN.'
  if (key.scopes.length === 0) return 'Your role is DEVELOPER. Keys without scopes are for OWNER and ADMIN.'
  return null
}
