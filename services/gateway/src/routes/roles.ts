import type { Role } from '@pitboss/contracts/caller'

/** Who may do what in the dashboard. Source: contract section 11, "Users". */

export const everybody: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT', 'VIEWER']
export const ownerAlone: readonly Role[] = ['OWNER']
export const ownerAndAdmin: readonly Role[] = ['OWNER', 'ADMIN']
/** Credentials, wallets, endpoints and logs: read and (but for logs) written by these. */
export const builders: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER']
/** Sessions, rounds, transactions, events and deliveries. */
export const playReaders: readonly Role[] = everybody
export const deliveryRetriers: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT']
