import type { ServiceHost } from '@pitboss/runtime/run-service'
import { type CallTokenMode, createCallTokens, keysFromAuth } from './call-tokens.ts'
import type { Bus } from './connect-bus.ts'
import type { Jwks } from './key-set.ts'
import { type CallHandler, serveCalls } from './serve-calls.ts'

/** Shown with the service by the micro protocol, and by instances of a journal. */
export const serviceVersion = '0.1.0'

/**
 * Answers a service's calls as `serveCalls` does, and checks the tokens of calls by auth's keys.
 * @param following has the answers of audited calls wait until their audit entries have moved; settlement
 * never waits for the audit
 */
export function serveService({
  bus,
  config,
  host: { logger, registry },
  loadKeys = keysFromAuth(bus),
  following = (run) => run,
  handlers,
  ...given
}: {
  bus: Bus
  service: string
  config: { readonly PITBOSS_CALL_TOKENS: CallTokenMode }
  host: Pick<ServiceHost, 'logger' | 'registry'>
  concurrencyMax?: number
  clockAheadMs: () => number
  loadKeys?: () => Promise<Jwks>
  following?: (run: CallHandler['run']) => CallHandler['run']
  handlers: readonly CallHandler[]
}): Promise<{ stop(): Promise<void> }> {
  const tokens = createCallTokens({ loadKeys, mode: config.PITBOSS_CALL_TOKENS, logger, registry })
  return serveCalls({
    ...{ ...given, bus, version: serviceVersion, tokens, logger, registry },
    handlers: handlers.map((one) => (one.isAudited ? { ...one, run: following(one.run) } : one)),
  })
}
