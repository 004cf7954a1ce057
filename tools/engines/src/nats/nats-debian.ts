import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from '../engine-error.ts'
import { cachedFolder } from '../fetch/cached-folder.ts'
import { debianSuite, withPrivateApt } from '../fetch/private-apt.ts'
import type { Progress } from '../fetch/progress.ts'
import { runProgram } from '../fetch/run-program.ts'
import { natsProgramVersion, requireNatsVersion } from './nats-version.ts'

const recipe = 1
const folderName = `nats-server-${debianSuite}-${process.arch}-${recipe}`

/** Whether Debian's package lies in the cache. */
export function isNatsDebianCached(cacheDir: string): boolean {
  return existsSync(join(cacheDir, folderName))
}

/** Debian's nats-server, fetched without being installed. @returns the program. */
export async function fetchNatsDebian(cacheDir: string, progress: Progress): Promise<string> {
  const folder = await cachedFolder({
    cacheDir,
    name: folderName,
    freeBytesMin: 150e6,
    progress,
    make: async (aside) => {
      await withPrivateApt({ cacheDir, progress }, async (apt) => {
        for (const { file } of await apt.download(['nats-server'])) {
          await runProgram('dpkg-deb', ['-x', file, join(aside, 'unpacked')])
          rmSync(file)
        }
      })
      const program = join(aside, 'unpacked/usr/sbin/nats-server')
      if (!existsSync(program))
        throw new EngineError("Debian's package holds no nats-server where it used to")
      renameSync(program, join(aside, 'nats-server'))
      rmSync(join(aside, 'unpacked'), { recursive: true, force: true })
      requireNatsVersion(await natsProgramVersion(join(aside, 'nats-server')), "Debian's nats-server")
    },
  })
  return join(folder, 'nats-server')
}
