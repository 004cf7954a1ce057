import {
  baseUrlConfig,
  commonConfig,
  masterKeysConfig,
  storageConfig,
  tokenTtlConfig,
} from '@pitboss/runtime/load-config'
import { z } from 'zod'

/** The environment of the auth service. Source: docs/contract.md, section 9. */
export const authConfig = z.object({
  ...commonConfig,
  ...storageConfig,
  ...masterKeysConfig,
  ...tokenTtlConfig,
  ...baseUrlConfig,
})
export type AuthConfig = z.infer<typeof authConfig>
