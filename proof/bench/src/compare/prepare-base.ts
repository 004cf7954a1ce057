import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Cleanup } from '../harness/cleanup.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const manifest = z.object({ scripts: z.object({ start: z.string().startsWith('node ') }) })

/**
 * Checks out `ref` into a worktree of its own in `folder` and installs it from its lock file.
 * @returns the file that its `npm start` runs
 * @throws Error when git or npm fail
 */
export function prepareBase(ref: string, folder: string, cleanup: Cleanup): string {
  run('git', ['worktree', 'add', '--detach', folder, ref], root)
  cleanup.add(async () => run('git', ['worktree', 'remove', '--force', folder], root))
  run('npm', ['ci', '--no-audit', '--no-fund'], folder)
  const { scripts } = manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  return join(folder, scripts.start.replace(/^node /, ''))
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr.slice(-2000)}`)
}
