import {
  commonConfig,
  loopbackWebhooksConfig,
  masterKeysConfig,
  storageConfig,
  timeScaleConfig,
  whole,
} from '@pitboss/runtime/load-config'
import { z } from 'zod'

/** Environment variables of the webhooks service. Source: docs/contract.md, section 9. */
export const configSchema = z.object({
  ...commonConfig,
  ...storageConfig,
  ...masterKeysConfig,
  ...timeScaleConfig,
  ...loopbackWebhooksConfig,
  /** Most replays of an account under way at once. Source: docs/contract.md, section 12. */
  PITBOSS_LIMIT_ACCOUNT_REPLAYS: whole(1, 100_000).default(20),
})
export type Config = z.infer<typeof configSchema>
