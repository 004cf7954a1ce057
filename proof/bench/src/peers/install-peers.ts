import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The peers have a lock file of their own: the project depends on none of them. */
const peersFolder = fileURLToPath(new URL('../../peers/', import.meta.url))

/**
 * Installs the peers as their lock file has them, once, from the registry that npm is set to. About 40 MB.
 * @throws Error when the registry cannot be reached
 */
export function installPeers(): void {
  const lock = readFileSync(`${peersFolder}package-lock.json`)
  const wanted = createHash('sha256').update(lock).digest('hex')
  const stamp = `${peersFolder}node_modules/.installed`
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: peersFolder,
    encoding: 'utf8',
  })
  writeFileSync(stamp, wanted)
}
