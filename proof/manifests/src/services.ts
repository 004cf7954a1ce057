import { authConfig } from '@pitboss/auth/config'
import { configSchema as gatewayConfig } from '@pitboss/gateway/config'
import { eventsConfig } from '@pitboss/runtime/load-config'
import { indexesConfig } from '@pitboss/storage/run-index-verb'
import { roundsConfig } from '@pitboss/rounds/config'
import { walletBridgeConfig } from '@pitboss/wallet-bridge/config'
import { configSchema as webhooksConfig } from '@pitboss/webhooks/config'
import { z } from 'zod'

/** What `pitboss-ops` reads. Source: tools/ops/src/ops-run.ts and commands/topology-commands.ts. */
const opsConfig = z.object({ NATS_URL: z.string(), NATS_NKEY_SEED: z.string(), ...eventsConfig })

export const serviceNames = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks'] as const
/** The services with a database. */
export const storedServices = ['auth', 'rounds', 'wallet-bridge', 'webhooks'] as const
/** The pods that build their indexes before a release. */
export const indexJobs = storedServices.map((name) => `${name}-indexes`)

/** The environment that each of our containers reads, by the name of its pods. */
export const configs: Readonly<Record<string, z.ZodObject>> = {
  gateway: gatewayConfig,
  auth: authConfig,
  rounds: roundsConfig,
  'wallet-bridge': walletBridgeConfig,
  webhooks: webhooksConfig,
  ops: opsConfig,
  ...Object.fromEntries(indexJobs.map((name) => [name, indexesConfig])),
}
