import type { Actor, Caller, Scope } from '@pitboss/contracts/caller'
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
