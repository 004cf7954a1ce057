import { accessSync, constants, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { badSettingExitCode, EngineError } from './engine-error.ts'

/**
 * Folder of fetched programs: `PITBOSS_CACHE_DIR`, else `~/.cache/pitboss` (`$XDG_CACHE_HOME` is respected).
 */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env.PITBOSS_CACHE_DIR) return resolve(env.PITBOSS_CACHE_DIR)
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pitboss')
}

/**
 * The server program that a person named by an environment variable, or that is on the PATH; null when there
 * is none.
 * @throws EngineError when the named one is not there.
 */
export function findProgram(
  env: NodeJS.ProcessEnv,
  variable: string,
  name: string,
): { path: string; from: string } | null {
  const named = env[variable]
  if (named) {
    if (isProgram(named)) return { path: resolve(named), from: variable }
    throw new EngineError(`${variable} is set to ${named}, which is no program that can be run`, {
      exitCode: badSettingExitCode,
    })
  }
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const found = folders.map((folder) => join(folder, name)).find(isProgram)
  return found === undefined ? null : { path: found, from: 'the PATH' }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

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
