import {
  commonConfig,
  loopbackWebhooksConfig,
  masterKeysConfig,
  storageConfig,
  timeScaleConfig,
} from '@pitboss/runtime/config-pieces'
import { z } from 'zod'

/** The environment of the webhooks service. Source: contract section 9. */
export const configSchema = z.object({
  ...commonConfig,
  ...storageConfig,
  ...masterKeysConfig,
  ...timeScaleConfig,
  ...loopbackWebhooksConfig,
})
export type Config = z.infer<typeof configSchema>
