import type { Scope } from '@pitboss/contracts/caller'

/** The keys under which wallets and movements are stored. Each begins with its operator and environment. */

/** The key of a scope's wallet, which is also its tenant: one wallet per operator and environment. */
export const walletKeyOf = (scope: Scope): string => `${scope.operatorId}/${scope.environment}`

/** The primary key of a movement: a transaction id is unique per operator and environment. */
export const movementIdOf = (scope: Scope, transactionId: string) => `${walletKeyOf(scope)}/${transactionId}`
