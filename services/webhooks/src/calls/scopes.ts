import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import { toEventEnvironment, type AccountMode } from '@pitboss/contracts/primitives'

/** The scope of a list: the environment that the query names, else the caller's. */
export function queryScope(caller: Caller, environment: AccountMode | undefined): Scope {
  if (environment === undefined) return caller.scope
  return { operatorId: caller.scope.operatorId, environment: toEventEnvironment(environment) }
}

/** The scopes in which an object named by its id may be found, in the order in which to look. */
export function idScopes(caller: Caller, environment: AccountMode | undefined): Scope[] {
  return environment === undefined ? lookupScopes(caller) : [queryScope(caller, environment)]
}
