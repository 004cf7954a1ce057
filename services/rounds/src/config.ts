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
  /** What an alarm of the watch of returns does by itself. */
  PITBOSS_RETURNS_ALARM: z.enum(['take-down', 'tell'], 'must be take-down or tell').default('take-down'),
})

export type RoundsConfig = z.output<typeof roundsConfig>
