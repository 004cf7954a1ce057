import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * Folder of fetched programs: `PITBOSS_CACHE_DIR`, else `~/.cache/pitboss` (`$XDG_CACHE_HOME` is respected).
 */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env.PITBOSS_CACHE_DIR) return resolve(env.PITBOSS_CACHE_DIR)
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pitboss')
}
