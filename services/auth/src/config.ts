import {
  baseUrlConfig,
  callTokensConfig,
  commonConfig,
  masterKeysConfig,
  storageConfig,
  tokenTtlConfig,
  whole,
} from '@pitboss/runtime/load-config'
import { z } from 'zod'

/** The environment of the auth service. Source: docs/contract.md, section 9. */
export const authConfig = z.object({
  ...commonConfig,
  ...callTokensConfig,
  ...storageConfig,
  ...masterKeysConfig,
  ...tokenTtlConfig,
  ...baseUrlConfig,
  // Caps of an account. Source: docs/contract.md, section 12.
  PITBOSS_LIMIT_ACCOUNT_KEYS: whole(1, 1_000_000).default(200),
  PITBOSS_LIMIT_ACCOUNT_PEOPLE: whole(1, 1_000_000).default(500),
})
export type AuthConfig = z.infer<typeof authConfig>
