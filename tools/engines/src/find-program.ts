import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { badSettingExitCode, EngineError } from './engine-error.ts'

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
