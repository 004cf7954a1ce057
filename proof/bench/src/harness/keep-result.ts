import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * Writes a result that is to be kept with the commit it belongs to; `changed` says that the working tree had
 * changes beyond that commit. Takes the commit of this moment, which is null outside a git repository.
 */
export function keepResult(path: string, result: object): void {
  const git = (...asked: string[]) => {
    const { status, stdout } = spawnSync('git', ['-C', root, ...asked], { encoding: 'utf8' })
    return status === 0 ? stdout.trim() : null
  }
  const kept = {
    commit: git('rev-parse', 'HEAD'),
    changed: git('status', '--porcelain') !== '',
    at: new Date().toISOString(),
    machine: { cores: availableParallelism(), node: process.version },
    ...result,
  }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`)
}
