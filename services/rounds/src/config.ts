import {
  commonConfig,
  masterKeysConfig,
  storageConfig,
  timeScaleConfig,
} from '@pitboss/runtime/config-pieces'
import { loadConfig } from '@pitboss/runtime/load-config'
import { z } from 'zod'

const configSchema = z.object({
  ...commonConfig,
  ...storageConfig,
  ...masterKeysConfig,
  ...timeScaleConfig,
})

export type RoundsConfig = z.output<typeof configSchema>

/** The only reader of the environment in this service; a bad value ends the process with exit code 78. */
export function loadRoundsConfig(): RoundsConfig {
  return loadConfig(configSchema)
}
