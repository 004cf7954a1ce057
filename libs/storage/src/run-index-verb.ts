import { createLogger } from '@pitboss/runtime/create-logger'
import {
  commonConfig,
  ConfigError,
  endBadConfig,
  loadConfig,
  storageConfig,
} from '@pitboss/runtime/load-config'
import { z } from 'zod'
import { connectServiceStorage } from './connect-storage.ts'
import { ensureIndexes, type IndexDeclarations } from './ensure-indexes.ts'
import { planIndexes } from './plan-indexes.ts'

/** What the verbs read of a service's environment: no broker, and no key that opens a secret. */
export const indexesConfig = z.object({
  NODE_ENV: commonConfig.NODE_ENV,
  PITBOSS_ENCRYPTED_NETWORK: commonConfig.PITBOSS_ENCRYPTED_NETWORK,
  PITBOSS_LOG_LEVEL: commonConfig.PITBOSS_LOG_LEVEL,
  ...storageConfig,
})

/** Exit codes of an interrupted process, as shells count them. */
const interruptedBy = { SIGINT: 130, SIGTERM: 143 } as const

/**
 * Runs `indexes plan` or `indexes apply` of a service's program, beside replicas of any build, and prints
 * each index as a line of JSON; what is under way is logged on stderr. `apply` makes what is missing, waits
 * for what another process builds, and drops nothing. It may be ended at any time and repeated: the database
 * goes on with a build. Source: docs/contract.md, section 10.
 * @returns the exit code: 0 done, 1 refused or failed, 2 wrong usage. A bad setting ends with 78
 */
export async function runIndexVerb({
  service,
  indexes,
  args,
}: {
  service: string
  indexes: IndexDeclarations
  /** The program's arguments. */
  args: readonly string[]
}): Promise<number> {
  const [noun, verb, ...more] = args
  if (noun !== 'indexes' || (verb !== 'plan' && verb !== 'apply') || more.length > 0) {
    process.stderr.write(`${service} takes no arguments, or "indexes plan", or "indexes apply"\n`)
    return 2
  }
  const config = loadConfig(indexesConfig)
  const logger = createLogger({ service, level: config.PITBOSS_LOG_LEVEL, destination: process.stderr })
  // The first process of a container is not ended by a signal that it does not listen to.
  for (const [signal, code] of Object.entries(interruptedBy)) process.once(signal, () => process.exit(code))
  try {
    const storage = await connectServiceStorage({
      ...{ service, config },
      host: { logger, check: () => undefined },
    })
    try {
      if (verb === 'apply')
        await storage.patiently((db) => ensureIndexes(db, indexes, logger, { drops: false }))
      const planned = await planIndexes(storage.db, indexes)
      for (const row of planned) process.stdout.write(`${JSON.stringify({ service, ...row })}\n`)
      return planned.some(({ refused }) => refused) ? 1 : 0
    } finally {
      await storage.close()
    }
  } catch (err) {
    if (err instanceof ConfigError) endBadConfig(err)
    logger.error({ err }, 'indexes.failed')
    return 1
  }
}
