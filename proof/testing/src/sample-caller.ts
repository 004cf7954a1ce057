import type { Actor, Caller, Scope } from '@pitboss/contracts/caller'
import { type AccountMode, toEventEnvironment } from '@pitboss/contracts/primitives'
import { sampleAccount } from './sample-account.ts'

/** A caller for tests: this actor of the scope's account, from this machine. Source: ours. */
export function sampleCaller(scope: Scope, actor: Actor, more: Partial<Caller> = {}): Caller {
  return {
    scope,
    eitherEnvironment: false,
    account: sampleAccount(scope.operatorId),
    actor,
    idempotencyKey: null,
    clientAddress: '127.0.0.1',
    ...more,
  }
}

/** The caller of a request for this environment, as the gateway names him. */
export function callerIn(caller: Caller, mode: AccountMode): Caller {
  return { ...caller, scope: { ...caller.scope, environment: toEventEnvironment(mode) } }
}
