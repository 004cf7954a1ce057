import { ops } from '@pitboss/ops/ops'
import { z } from 'zod'

const object = z.record(z.string(), z.unknown())

/** What a command of operations printed, and its exit code. */
type OpsResult = { code: number; stdout: string; stderr: string }

/**
 * `npm run ops -- …` against the stack of a data folder, without a process of its own.
 * @param dataDir null where the flags or the environment name the broker
 */
export async function tryOps(dataDir: string | null, ...flags: string[]): Promise<OpsResult> {
  const printed = { stdout: '', stderr: '' }
  const folder = dataDir === null || flags.includes('--data-dir') ? [] : ['--data-dir', dataDir]
  const code = await ops([...flags, ...folder], {
    stdout: (text) => (printed.stdout += text),
    stderr: (text) => (printed.stderr += text),
  })
  return { code, ...printed }
}

/** As `tryOps` with `--json`. @throws when it is refused. */
export async function runOps(dataDir: string, ...flags: string[]): Promise<Record<string, unknown>> {
  return object.parse(await readOps(dataDir, ...flags))
}

/** As `runOps`, for verbs whose value is no object. `JSON.parse` refuses anything but exactly one value. */
export async function readOps(dataDir: string, ...flags: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await tryOps(dataDir, ...flags, '--json')
  if (code !== 0) throw new Error(`${flags.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}
