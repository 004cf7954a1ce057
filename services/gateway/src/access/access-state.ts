import { keysFromAuth } from '@pitboss/bus/call-tokens'
import type { Bus } from '@pitboss/bus/connect-bus'
import { watchAccessBucket } from '@pitboss/bus/access-bucket'
import { createTokenVerifier } from '@pitboss/bus/verify-token'
import { resolvePrincipal } from '@pitboss/contracts/calls/auth'
import { isPassedOn, type TokenClaims } from '@pitboss/contracts/token-claims'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import { createPrincipalCache, type Principal } from './principal-cache.ts'

/**
 * Longest silence of the access bucket before a gateway refuses tokens. Source: docs/contract.md, section 3.
 */
const heartbeatSilenceMaxMs = 5000
const verifiedMax = 20_000

export type AccessState = {
  /**
   * @throws ServiceError INVALID_CREDENTIALS, also for what services get; TOKEN_EXPIRED, SERVICE_UNAVAILABLE.
   */
  verify(token: string): Promise<TokenClaims>
  /** @throws ServiceError SERVICE_UNAVAILABLE while the access bucket is silent: it fails closed. */
  principalOf(claims: TokenClaims): Promise<Principal>
  /** Whether a heartbeat of the access bucket came in the last 5 s. */
  alive(): boolean
  /** Whether a heartbeat came since the start, however long ago. */
  heard(): boolean
  stop(): Promise<void>
}

/** Creates a gateway's knowledge of tokens and their principals; the watched bucket keeps it fresh. */
export function createAccessState({
  bus,
  logger,
  nowMs,
}: {
  bus: Bus
  logger: Logger
  nowMs: () => number
}): AccessState {
  const verifier = createTokenVerifier({
    loadKeys: keysFromAuth(bus),
    logger,
    nowMs,
    verifiedMax,
  })
  const principals = createPrincipalCache((query) => bus.call(resolvePrincipal, query))
  const watch = watchAccessBucket({
    bus,
    logger,
    onChange(key) {
      if (key === 'keys' || key === '*') verifier.forget()
      if (key !== 'keys') principals.changed(key)
    },
  })
  const alive = () => watch.aliveWithinMs() <= heartbeatSilenceMaxMs

  return {
    async verify(token) {
      const claims = await verifier.verify(token)
      if (!isPassedOn(claims)) return claims
      throw new ServiceError('INVALID_CREDENTIALS', {
        message: 'The token did not verify.',
        cause: 'passed on',
      })
    },
    async principalOf(claims) {
      if (!alive()) {
        throw new ServiceError('SERVICE_UNAVAILABLE', {
          message: 'Access cannot be checked at the moment.',
          retryAfterS: 1,
        })
      }
      return principals.of(claims)
    },
    alive,
    heard: () => Number.isFinite(watch.aliveWithinMs()),
    stop: () => watch.stop(),
  }
}
