import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The generators have a lock file of their own: `npm ci` of the project stays light. */
export const generatorsFolder = fileURLToPath(new URL('../generators/', import.meta.url))

/**
 * Installs the generators as their lock file has them, from the registry that npm is set to; once they are
 * there, nothing. About 155 MB and ten seconds. @throws Error when the registry cannot be reached.
 */
export function installGenerators(): void {
  const lock = readFileSync(`${generatorsFolder}package-lock.json`)
  const wanted = createHash('sha256').update(lock).digest('hex')
  const stamp = `${generatorsFolder}node_modules/.installed`
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: generatorsFolder,
    encoding: 'utf8',
  })
  writeFileSync(stamp, wanted)
}
