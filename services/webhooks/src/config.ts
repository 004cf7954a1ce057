import { outboundDenySchema } from '@pitboss/contracts/address-range'
import { loopbackWebhooksConfig, serviceConfig, whole } from '@pitboss/runtime/load-config'
import { z } from 'zod'

/** Environment variables of the webhooks service. Source: docs/contract.md, section 9. */
export const configSchema = z.object({
  ...serviceConfig,
  ...loopbackWebhooksConfig,
  /** Networks that no endpoint is called in, public ones of the installation's own included. */
  PITBOSS_OUTBOUND_DENY: outboundDenySchema,
  /** Most endpoints of an account and environment that one event goes to. Source: ours. */
  PITBOSS_LIMIT_EVENT_ENDPOINTS: whole(1, 1000).default(200),
  /** Most replays of an account under way at once. Source: docs/contract.md, section 12. */
  PITBOSS_LIMIT_ACCOUNT_REPLAYS: whole(1, 100_000).default(20),
})
export type Config = z.infer<typeof configSchema>
