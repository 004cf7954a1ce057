import {
  commonConfig,
  loopbackWebhooksConfig,
  masterKeysConfig,
  storageConfig,
  timeScaleConfig,
} from '@pitboss/runtime/load-config'
import { z } from 'zod'

/** Environment variables of the webhooks service. Source: docs/contract.md, section 9. */
export const configSchema = z.object({
  ...commonConfig,
  ...storageConfig,
  ...masterKeysConfig,
  ...timeScaleConfig,
  ...loopbackWebhooksConfig,
})
export type Config = z.infer<typeof configSchema>
