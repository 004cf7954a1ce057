import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'
import { programOf } from './program-of.ts'

const run = promisify(execFile)
const outputMax = 1 << 26
const object = z.record(z.string(), z.unknown())

/** `npm run ops -- … --json` against the stack of a data folder. @throws when it is refused. */
export async function runOps(dataDir: string, ...flags: string[]): Promise<Record<string, unknown>> {
  return object.parse(await readOps(dataDir, ...flags))
}

/** As `runOps`, for verbs whose value is no object. */
export async function readOps(dataDir: string, ...flags: string[]): Promise<unknown> {
  const { stdout } = await run(process.execPath, [programOf('ops'), ...flags, '--json'], {
    env: { ...process.env, PITBOSS_DATA_DIR: dataDir },
    maxBuffer: outputMax,
  })
  return JSON.parse(stdout)
}
