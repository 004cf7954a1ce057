import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** How many bytes of the disk a folder takes. Files that go away meanwhile are left out. */
export async function diskBytes(folder: string): Promise<number> {
  const counted = await run('du', ['--summarize', '--block-size=1', folder]).catch(
    // What has gone away is named on stderr, and the rest is counted all the same.
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  )
  const bytes = Number.parseInt(counted.stdout, 10)
  if (!Number.isSafeInteger(bytes)) throw new Error(`the size of ${folder} cannot be read`)
  return bytes
}
