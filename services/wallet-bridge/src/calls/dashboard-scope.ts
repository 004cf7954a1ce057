import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import { type AccountMode, toEventEnvironment } from '@pitboss/contracts/primitives'

export function dashboardScope(caller: Caller, environment: AccountMode): Scope {
  return { operatorId: caller.scope.operatorId, environment: toEventEnvironment(environment) }
}

/** The scopes in which a person's request for an object by its id is looked up. */
export function scopesOf(caller: Caller, environment: AccountMode | undefined): Scope[] {
  return environment === undefined ? lookupScopes(caller) : [dashboardScope(caller, environment)]
}
