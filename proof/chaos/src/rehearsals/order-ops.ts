import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { waitFor } from '@pitboss/testing/wait-for'
import { z } from 'zod'

const main = fileURLToPath(new URL('../../../../tools/ops/src/main.ts', import.meta.url))
const run = promisify(execFile)

/**
 * `npm run ops -- … --json` against a data folder, for verbs that may be repeated: a busy machine may keep
 * the command from reaching the broker in time.
 * @returns what it printed, parsed
 */
export async function orderOps(dataDir: string, ...flags: string[]): Promise<unknown> {
  const { printed } = await waitFor(
    async () => {
      const { stdout } = await run(process.execPath, [main, ...flags, '--json', '--data-dir', dataDir])
      return { printed: z.unknown().parse(JSON.parse(stdout)) }
    },
    { timeoutMs: 60_000, everyMs: 250, what: `ops ${flags.join(' ')}` },
  )
  return printed
}
