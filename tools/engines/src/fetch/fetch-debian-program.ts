import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../engine-settings.ts'
import { cachedFolder } from './cached-folder.ts'
import { debianSuite, withPrivateApt } from './private-apt.ts'
import { createProgress } from './progress.ts'
import { runProgram } from './run-program.ts'

const freeBytesMin = 300e6

/** Programs that are fetched, each with Debian's package that has it. None needs a library of its suite. */
const packageOf = {
  amtool: 'prometheus-alertmanager',
  cosign: 'cosign',
  kustomize: 'kustomize',
  prometheus: 'prometheus',
  promtool: 'promtool',
  umoci: 'umoci',
} as const
export type DebianProgram = keyof typeof packageOf

/** The names of all. That of a program's folder in the cache begins with its name and a hyphen. */
export const debianPrograms: readonly string[] = Object.keys(packageOf)

/**
 * A program of Debian's: fetched once into the cache of the engines and never installed.
 * @throws EngineError when it cannot be fetched
 */
export async function fetchDebianProgram(env: NodeJS.ProcessEnv, name: DebianProgram): Promise<string> {
  const debianPackage = packageOf[name]
  const cacheDir = cacheFolder(env)
  const progress = createProgress()
  const folder = await cachedFolder({
    cacheDir,
    name: `${name}-${debianSuite}-${process.arch}-1`,
    freeBytesMin,
    progress,
    make: async (aside) => {
      const unpacked = join(aside, 'unpacked')
      await withPrivateApt({ cacheDir, progress }, async (apt) => {
        for (const { file } of await apt.download([debianPackage])) {
          await runProgram('dpkg-deb', ['-x', file, unpacked])
          rmSync(file)
        }
      })
      const program = join(unpacked, 'usr/bin', name)
      if (!existsSync(program))
        throw new Error(`Debian's package ${debianPackage} holds no ${name} where it used to`)
      renameSync(program, join(aside, name))
      rmSync(unpacked, { recursive: true, force: true })
    },
  })
  return join(folder, name)
}
