import type { Role } from '../caller.ts'

/**
 * Groups of dashboard users, for the endpoints they may use. Source: docs/contract.md, section 11, "Users".
 */

/**
 * Own account, games, brands, business, reports, and reads of sessions, rounds, transactions, events,
 * deliveries.
 */
export const everybody: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT', 'VIEWER']
export const ownerAlone: readonly Role[] = ['OWNER']
export const ownerAndAdmin: readonly Role[] = ['OWNER', 'ADMIN']
/** Credentials, wallets, webhook endpoints and the request log. */
export const builders: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER']
export const deliveryRetriers: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT']
