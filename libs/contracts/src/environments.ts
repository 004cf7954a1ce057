import type { EventEnvironment, AccountMode } from './primitives.ts'

/**
 * The environment that a setting of `environment` produces events in. Source: docs/contract.md, section 11.
 */
export function toEventEnvironment(environment: AccountMode): EventEnvironment {
  return environment === 'LIVE' ? 'LIVE' : 'SANDBOX'
}

/** The reverse of `toEventEnvironment`. */
export function toAccountMode(environment: EventEnvironment): AccountMode {
  return environment === 'LIVE' ? 'LIVE' : 'TEST'
}
