import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from './cleanup.ts'

/**
 * A folder that is gone after the run, unless it is to be kept then; others may look into it, since the
 * database may run as another user.
 */
export function temporaryFolder(name: string, cleanup: Cleanup, isKept = () => false): string {
  const path = mkdtempSync(join(tmpdir(), `pitboss-${name}-`))
  chmodSync(path, 0o755)
  cleanup.add(() => {
    if (isKept()) process.stderr.write(`log and data are kept in ${path}\n`)
    else rmSync(path, { recursive: true, force: true })
  })
  return path
}
