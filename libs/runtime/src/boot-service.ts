import type { z } from 'zod'
import { createLogger } from './create-logger.ts'
import { loadConfig } from './load-config.ts'
import { type RunningService, runService, type ServiceHost } from './run-service.ts'

type ProcessConfig = {
  readonly PITBOSS_LOG_LEVEL: string
  readonly PITBOSS_PROBE_HOST: string
  readonly PITBOSS_PROBE_PORT: number
}

/**
 * Runs a service as this process: reads its configuration from the environment (a bad value ends the process
 * with exit code 78), makes its logger, and starts it as `runService` does.
 */
export async function bootService<Config extends ProcessConfig>({
  name,
  schema,
  start,
}: {
  name: string
  schema: z.ZodType<Config>
  start: (given: { config: Config; host: ServiceHost }) => Promise<RunningService>
}): Promise<void> {
  const config = loadConfig(schema)
  await runService({
    name,
    logger: createLogger({ service: name, level: config.PITBOSS_LOG_LEVEL }),
    probeHost: config.PITBOSS_PROBE_HOST,
    probePort: config.PITBOSS_PROBE_PORT,
    start: (host) => start({ config, host }),
  })
}
