import type { Role } from '@pitboss/contracts/caller'

/** Who may do what in the dashboard. Source: contract section 11, "Users". */

/** Own account, games, brands, business, reports, and reads of sessions, rounds, transactions, events and deliveries. */
export const everybody: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT', 'VIEWER']
export const ownerAlone: readonly Role[] = ['OWNER']
export const ownerAndAdmin: readonly Role[] = ['OWNER', 'ADMIN']
/** Credentials, wallets, endpoints and logs: read and (but for logs) written by these. */
export const builders: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER']
export const deliveryRetriers: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT']
