import { type Scope, scopeKey } from '@pitboss/contracts/caller'

/** The primary key of a movement: a transaction id is unique per operator and environment. */
export const movementIdOf = (scope: Scope, transactionId: string) => `${scopeKey(scope)}/${transactionId}`
