import { addressRangesSchema } from '@pitboss/contracts/address-range'
import { baseUrlConfig, commonConfig, port, whole } from '@pitboss/runtime/load-config'
import { z } from 'zod'
import type { RateRule } from './limits/rate-counter.ts'

/** The settings that the gateway reads from its environment. */

const minuteMs = 60_000
/** The bucket of an account, in buckets of a key. Source: docs/contract.md, section 12. */
const keysPerAccount = 5

const limit = (fallback: number) => whole(1, 1_000_000).default(fallback)

export const configSchema = z.object({
  ...commonConfig,
  ...baseUrlConfig,
  HOST: z.string().min(1).default('127.0.0.1'),
  /** Several gateways may share one port (SO_REUSEPORT); 0 takes a free one. */
  PORT: port.default(8080),
  /** The proxies whose X-Forwarded-For counts. */
  PITBOSS_TRUSTED_PROXIES: addressRangesSchema.default([]),
  /** Whether browsers shall come by https alone to the hosts below that of the base url, too. */
  PITBOSS_HSTS_SUBDOMAINS: z.enum(['yes', 'no'], 'must be yes or no').default('no'),
  /** The folder with the built pages (`web/dist`); without one their paths are NOT_FOUND. */
  PITBOSS_WEB_FOLDER: z.string().min(1).optional(),
  // Longest time for a client to send its headers, and then its body, in milliseconds
  PITBOSS_HEADERS_TIMEOUT_MS: whole(100, 120_000).default(10_000),
  PITBOSS_BODY_TIMEOUT_MS: whole(100, 120_000).default(10_000),
  // Limits of docs/contract.md, section 8
  PITBOSS_LIMIT_OPERATOR_PER_S: limit(100),
  PITBOSS_LIMIT_OPERATOR_BURST: limit(200),
  /** Of all keys and people of an account together; five times a key's where unset. */
  PITBOSS_LIMIT_ACCOUNT_PER_S: whole(1, 10_000_000).optional(),
  PITBOSS_LIMIT_ACCOUNT_BURST: whole(1, 10_000_000).optional(),
  PITBOSS_LIMIT_LAUNCHER_PER_S: limit(30),
  PITBOSS_LIMIT_DASHBOARD_PER_S: limit(20),
  PITBOSS_LIMIT_MINT_KEY_PER_MIN: limit(30),
  PITBOSS_LIMIT_MINT_ADDRESS_PER_MIN: limit(120),
  PITBOSS_LIMIT_LOGIN_EMAIL_PER_MIN: limit(10),
  PITBOSS_LIMIT_LOGIN_FAILURES_PER_MIN: limit(30),
  PITBOSS_LIMIT_LOGIN_ADDRESS_PER_MIN: limit(30),
  // Limits of docs/contract.md, section 12: routes without a token, callbacks of one operator
  PITBOSS_LIMIT_ADDRESS_PER_S: limit(20),
  PITBOSS_LIMIT_ADDRESS_BURST: limit(100),
  PITBOSS_LIMIT_CALLBACK_PER_S: limit(100),
  // Bounds of one gateway: connections and bodies on their way per address, all bodies on their way, requests
  // at work per account and per address. The /64 of a v6 address counts as one.
  PITBOSS_LIMIT_ADDRESS_CONNECTIONS: limit(2000),
  PITBOSS_LIMIT_ADDRESS_BODIES: limit(256),
  PITBOSS_LIMIT_BODIES: limit(2000),
  PITBOSS_LIMIT_ACCOUNT_PLACES: limit(200),
  PITBOSS_LIMIT_ADDRESS_PLACES: limit(100),
  // Open tails of a person, of an account, and of this gateway
  PITBOSS_LIMIT_PERSON_TAILS: limit(8),
  PITBOSS_LIMIT_ACCOUNT_TAILS: limit(50),
  PITBOSS_LIMIT_TAILS: limit(2000),
  /** Traces that clients may have recorded by their own flag, of one gateway. Source: docs/traces.md. */
  PITBOSS_LIMIT_CLIENT_TRACES_PER_S: limit(10),
  // Thresholds of shedding: delay of the event loop in milliseconds, requests at work at once
  PITBOSS_SHED_READ_DELAY_MS: whole(10, 60_000).default(400),
  PITBOSS_SHED_STAKE_DELAY_MS: whole(10, 60_000).default(1000),
  PITBOSS_SHED_READ_IN_FLIGHT: whole(1, 1_000_000).default(1000),
  PITBOSS_SHED_STAKE_IN_FLIGHT: whole(1, 1_000_000).default(2000),
})

export type GatewayConfig = z.infer<typeof configSchema>

/**
 * The rule of each limiter of docs/contract.md, section 8. `mintPair` is one key from one address,
 * `loginEmail` one e-mail from one address, `loginFailures` one e-mail from anywhere.
 */
export function limiterRules(config: GatewayConfig) {
  const perMinute = (count: number): RateRule => ({ kind: 'window', count, windowMs: minuteMs })
  const perSecond = (rate: number, burst = rate): RateRule => ({ kind: 'bucket', perSecond: rate, burst })
  return {
    operator: perSecond(config.PITBOSS_LIMIT_OPERATOR_PER_S, config.PITBOSS_LIMIT_OPERATOR_BURST),
    account: perSecond(
      config.PITBOSS_LIMIT_ACCOUNT_PER_S ?? keysPerAccount * config.PITBOSS_LIMIT_OPERATOR_PER_S,
      config.PITBOSS_LIMIT_ACCOUNT_BURST ?? keysPerAccount * config.PITBOSS_LIMIT_OPERATOR_BURST,
    ),
    launcher: perSecond(config.PITBOSS_LIMIT_LAUNCHER_PER_S),
    dashboard: perSecond(config.PITBOSS_LIMIT_DASHBOARD_PER_S),
    mintKey: perMinute(config.PITBOSS_LIMIT_MINT_KEY_PER_MIN),
    mintPair: perMinute(config.PITBOSS_LIMIT_MINT_KEY_PER_MIN),
    mintAddress: perMinute(config.PITBOSS_LIMIT_MINT_ADDRESS_PER_MIN),
    loginEmail: perMinute(config.PITBOSS_LIMIT_LOGIN_EMAIL_PER_MIN),
    loginFailures: perMinute(config.PITBOSS_LIMIT_LOGIN_FAILURES_PER_MIN),
    loginAddress: perMinute(config.PITBOSS_LIMIT_LOGIN_ADDRESS_PER_MIN),
    address: perSecond(config.PITBOSS_LIMIT_ADDRESS_PER_S, config.PITBOSS_LIMIT_ADDRESS_BURST),
    callback: perSecond(config.PITBOSS_LIMIT_CALLBACK_PER_S),
  }
}
