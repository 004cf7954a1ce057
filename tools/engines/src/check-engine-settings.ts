import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { badSettingExitCode, EngineError } from './engine-error.ts'
import { findProgram } from './find-program.ts'

/**
 * Refuses unusable programs and folders that the environment names, before anything is started or fetched.
 * Source: docs/contract.md, section 9.
 * @throws EngineError with exit code 78 and the name of the variable.
 */
export function checkEngineSettings(env: NodeJS.ProcessEnv): void {
  if (!env.MONGODB_URL) findProgram(env, 'MONGOD_BIN', 'mongod')
  if (!env.NATS_URL) findProgram(env, 'NATS_SERVER_BIN', 'nats-server')
  if (!env.PITBOSS_CACHE_DIR || canBeFolder(cacheFolder(env))) return
  throw new EngineError(`PITBOSS_CACHE_DIR is set to ${env.PITBOSS_CACHE_DIR}, which cannot be a folder`, {
    exitCode: badSettingExitCode,
  })
}

/** Whether the path, or what is there of it, is a folder. */
function canBeFolder(path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false })
  return there === undefined ? canBeFolder(dirname(path)) : there.isDirectory()
}
