import {
  callTokensConfig,
  commonConfig,
  masterKeysConfig,
  storageConfig,
  timeScaleConfig,
} from '@pitboss/runtime/load-config'
import { z } from 'zod'

/** The environment of the rounds service; nothing else here reads it. Source: docs/contract.md, section 9. */
export const roundsConfig = z.object({
  ...commonConfig,
  ...callTokensConfig,
  ...storageConfig,
  ...masterKeysConfig,
  ...timeScaleConfig,
})

export type RoundsConfig = z.output<typeof roundsConfig>
