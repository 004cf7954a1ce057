import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { errorCode } from '../engine-error.ts'

/**
 * Makes a folder and the folders above it that are missing, one by one: Node's own `recursive` tries for ever
 * where a file system lets nobody make one, such as `/proc`.
 * @throws the file system's error for the first that cannot be made
 */
export function makeFolder(path: string, mode = 0o755): void {
  const missing: string[] = []
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder)
  for (const folder of missing) {
    try {
      mkdirSync(folder, { mode })
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
  }
}
