import type { HappeningEnvironment, SetupEnvironment } from './primitives.ts'

/**
 * The environment that a setting of `environment` produces events in. Source: docs/contract.md, section 11.
 */
export function toHappening(environment: SetupEnvironment): HappeningEnvironment {
  return environment === 'LIVE' ? 'LIVE' : 'SANDBOX'
}

/** The reverse of `toHappening`. */
export function toSetup(environment: HappeningEnvironment): SetupEnvironment {
  return environment === 'LIVE' ? 'LIVE' : 'TEST'
}
